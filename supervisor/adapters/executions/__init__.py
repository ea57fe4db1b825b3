"""The store of executions in a database of its own, on SQLite or PostgreSQL."""
