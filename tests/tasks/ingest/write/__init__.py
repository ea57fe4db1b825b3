"""Tests of `tasks/ingest/write/`."""
