"""The Spark application of a worker: session, settings, log, memory; ingest and worker use it."""
