"""Tests of `supervisor/core/planning/rules/`."""
