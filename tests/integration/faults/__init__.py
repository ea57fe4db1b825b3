"""Processes, brokers, databases and workers that end, stall or come back."""
