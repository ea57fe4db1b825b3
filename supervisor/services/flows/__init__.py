"""Verbs of people on flows and on their executions."""
