"""Verbs of the product as steps: over real services, a real engine and SQLite."""
