"""Whole supervisors over many passes: look, decide and act, on every store."""
