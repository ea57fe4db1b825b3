"""Tests of `supervisor/api/http/`."""
