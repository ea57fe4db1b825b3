"""Ids, names, errors and other small values, pure; everything may import it."""
