"""Ports of tables: their files, exports, compactions, records in quarantine and replays."""
