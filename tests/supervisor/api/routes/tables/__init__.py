"""Tests of `supervisor/api/routes/tables/`."""
