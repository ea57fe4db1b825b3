"""Tests of `supervisor/services/supervisors/`."""
