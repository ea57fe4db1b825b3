"""Tests of `tasks/ingest/spark/`."""
