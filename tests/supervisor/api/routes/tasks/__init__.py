"""Tests of `supervisor/api/routes/tasks/`."""
