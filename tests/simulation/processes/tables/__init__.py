"""The life of tables in the simulation: exports, compaction, retention, the deletion of files."""
