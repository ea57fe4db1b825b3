"""Routes of tables: files, compaction, exports, quarantine, segments."""
