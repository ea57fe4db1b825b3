"""Tests of `tasks/ingest/merge/`."""
