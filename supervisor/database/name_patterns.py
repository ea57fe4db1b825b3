"""Patterns of names as conditions in SQL."""

from sqlalchemy import ColumnElement

__all__ = ["matching"]


def matching(name: ColumnElement[str], pattern: str, on_sqlite: bool) -> ColumnElement[bool]:
    """Return the condition that a name matches a pattern, in which `*` stands for any signs.

    It is the rule of `tasks.contract.patterns`, for patterns of names: they have no other sign
    with a meaning for GLOB.  SQLite's LIKE takes upper and lower case for the same.
    """
    if on_sqlite:
        return name.op("GLOB", is_comparison=True)(pattern)
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return name.like(escaped.replace("*", "%"), escape="\\")
