"""Tests of `supervisor/chores/`."""
