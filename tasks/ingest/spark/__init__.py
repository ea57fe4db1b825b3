"""Our Spark jobs, sources and functions; all of `tasks/ingest/` imports it."""
