"""Tests of `supervisor/core/planning/`."""
