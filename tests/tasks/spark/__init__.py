"""Tests of `tasks/spark/`."""
