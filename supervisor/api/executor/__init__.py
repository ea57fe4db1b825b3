"""The HTTP application of an executor: its health, its partitions, its metrics."""
