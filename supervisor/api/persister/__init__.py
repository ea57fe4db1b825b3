"""The HTTP application of a persister: its health, its metrics, and its door for records."""
