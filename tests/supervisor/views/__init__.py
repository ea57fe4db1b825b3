"""Tests of `supervisor/views/`."""
