"""Tests of `supervisor/cli/supervisor/`."""
