"""The processes: leaders, and all that comes from outside."""
