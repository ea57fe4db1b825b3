"""Tests of `tasks/rows/schemas/`."""
