"""Tests of `tasks/rows/sql/`."""
