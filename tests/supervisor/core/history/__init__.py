"""Tests of `supervisor/core/history/`."""
