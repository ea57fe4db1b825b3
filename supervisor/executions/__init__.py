"""Executions at work: the engines that keep their state, and bring inputs to the reducer."""
