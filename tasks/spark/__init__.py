"""One Spark per worker: its session, settings, log and memory; ingest and worker import it."""
