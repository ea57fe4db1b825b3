"""Tests of `supervisor/cli/shell/`."""
