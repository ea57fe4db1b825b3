"""Patterns of names: `*` stands for any characters, everything else for itself."""

from collections.abc import Iterable


def matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern matches a whole name; linear, whatever the pattern."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == name
    *middle, last = rest
    if len(name) < len(first) + len(last) or not name.startswith(first):
        return False
    if not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        index = name.find(piece, at, end)
        if index < 0:
            return False
        at = index + len(piece)
    return True


def matches_any(patterns: Iterable[str], name: str) -> bool:
    """Tell whether one of the patterns matches a whole name."""
    return any(matches(pattern, name) for pattern in patterns)
