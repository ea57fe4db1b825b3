"""The store of executions and the engine over it: what is promised, on each database."""
