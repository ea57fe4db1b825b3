"""Tests of `tasks/rows/`."""
