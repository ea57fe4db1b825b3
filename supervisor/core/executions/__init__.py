"""Executions: bounded work in steps, as data and rules.  No clock, no randomness, no I/O."""
