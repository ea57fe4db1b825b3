"""Tests of `supervisor/settings/`."""
