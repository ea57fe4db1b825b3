"""Tests of `supervisor/cli/table/`."""
