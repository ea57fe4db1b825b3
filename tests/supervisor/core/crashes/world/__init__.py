"""The simulated outside of executions: log, database, group, sink, and random flows."""
