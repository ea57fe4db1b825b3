"""Tests of `supervisor/adapters/workers/`."""
