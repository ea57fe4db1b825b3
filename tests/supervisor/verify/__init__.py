"""Tests of `supervisor/verify/`."""
