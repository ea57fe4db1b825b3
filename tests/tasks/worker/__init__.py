"""Tests of `tasks/worker/`."""
