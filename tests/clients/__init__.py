"""Druid's clients that others wrote, unchanged, against a running overlord."""
