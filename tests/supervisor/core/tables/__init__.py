"""Tests of `supervisor/core/tables/`."""
