"""Owners of partitions that come to a bad end, and what the next one finds."""
