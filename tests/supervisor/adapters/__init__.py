"""Tests of `supervisor/adapters/`."""
