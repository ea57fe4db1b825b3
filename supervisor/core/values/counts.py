"""Counts in sentences for people: digits in groups, with their noun.

Offsets, ids and versions are names: they are copied, and stay as they are.
"""

from datetime import timedelta


def grouped(count: int) -> str:
    """Return a count with its digits in groups of three: 1,204."""
    return f"{count:,}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: "1 record", "1,204 records"."""
    return f"{grouped(count)} {noun if count == 1 else (plural or f'{noun}s')}"


def in_seconds(length: timedelta) -> str:
    """Return a length of time in seconds, as settings and specs have it: "3,600 s"."""
    return f"{length.total_seconds():,.10g} s"
