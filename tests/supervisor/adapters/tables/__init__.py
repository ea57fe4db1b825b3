"""Tests of `supervisor/adapters/tables/`."""
