"""Records of every kind in, tables out: formats, rollups, samples, exports, compaction."""
