"""Tests of `tasks/ingest/formats/`."""
