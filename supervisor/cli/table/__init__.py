"""Commands on tables: compaction, exports, query, quarantine, segments, verify."""
