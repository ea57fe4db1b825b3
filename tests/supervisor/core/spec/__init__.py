"""Tests of `supervisor/core/spec/`."""
