"""Tests of `supervisor/api/routes/`."""
