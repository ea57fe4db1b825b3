"""Parsed records to columns, and what is wrong with a record; the engine imports it."""
