"""What executions reach: the servers that flows call."""
