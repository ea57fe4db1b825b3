"""Tests of `supervisor/api/openapi/`."""
