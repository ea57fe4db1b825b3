"""Rules of tables: compaction, exports, column types, pure; every layer may import it."""
