"""Executors as processes: partitions that are shared, killed, drained, frozen."""
