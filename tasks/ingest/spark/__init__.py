"""Spark jobs, sources and functions of ours; all of `tasks/ingest/` imports it."""
