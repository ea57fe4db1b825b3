"""Event queues: what is promised of each, on every backing."""
