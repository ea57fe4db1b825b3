"""Segments from the files of written batches, and compaction; the engine imports it."""
