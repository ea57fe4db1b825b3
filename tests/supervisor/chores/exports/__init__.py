"""Tests of `supervisor/chores/exports/`."""
