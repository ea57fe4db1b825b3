"""Tests of `supervisor/api/routes/cluster/`."""
