"""File name check: names that are safe as one part of a path."""

import re

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
"""A task's id is the id of its supervisor, of at most 128 characters, and 37 more characters."""


def is_safe_name(name: str) -> bool:
    """Whether `name` is exactly one part of a path on any file system, and never several parts."""
    safe = _SAFE_NAME.fullmatch(name) is not None
    return safe and ".." not in name and not name.endswith(".")
