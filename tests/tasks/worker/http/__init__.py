"""Tests of `tasks/worker/http/`."""
