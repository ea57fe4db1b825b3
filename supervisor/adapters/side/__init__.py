"""Databases beside the metadata, each with a URL and migrations of its own: reports, executions."""
