"""Tests of `tasks/ingest/decode/`."""
