"""Tests of `supervisor/api/routes/supervisors/`."""
