"""Tests of `supervisor/cli/cluster/`."""
