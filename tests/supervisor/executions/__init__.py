"""Executions at work: runners, and what they make."""
