"""Written batches to the files of a segment, and compaction; the engine imports it."""
