"""Runs against a database alone: publishes, and reports."""
