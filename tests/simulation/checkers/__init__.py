"""The invariants I1 to I12, judged on rows, files and records; each can fail."""
