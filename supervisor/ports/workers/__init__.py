"""The ports to workers: their rows, and the logs that they keep."""
