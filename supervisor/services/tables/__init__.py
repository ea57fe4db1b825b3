"""Queries about tables: files, warehouse, quarantine."""
