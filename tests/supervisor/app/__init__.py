"""Tests of `supervisor/app/`."""
