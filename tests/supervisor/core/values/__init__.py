"""Tests of `supervisor/core/values/`."""
