"""Executions at work: records, and what each engine promises."""
