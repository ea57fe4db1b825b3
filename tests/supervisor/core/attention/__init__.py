"""Tests of `supervisor/core/attention/`."""
