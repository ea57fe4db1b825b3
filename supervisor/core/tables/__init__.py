"""Rules of tables: compaction, exports, column types; pure, and importable by every layer."""
