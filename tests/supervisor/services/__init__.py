"""Tests of `supervisor/services/`."""
