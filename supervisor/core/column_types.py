"""What a spec's types of columns make of a table whose files have other types: words for people.

A table has one type per column, and one that no value of its files leaves: texts of old files and
numbers of new ones have `json` in common alone.  Published files are never rewritten for it.
"""

from collections.abc import Iterable, Sequence

from supervisor.core.spec_fields import shown
from tasks.discovery import common
from tasks.ingest_spec import Column

_SHOWN_MAX = 20
"""Columns of which one answer warns."""


def mixed_types(columns: Sequence[Column], published: Iterable[Sequence[Column]]) -> list[str]:
    """Return a warning for each declared column that becomes `json` for what its table holds.

    `published` are the lists of columns that the table's files have, or will have.
    """
    held: dict[str, set[str]] = {}
    sets = list(published)
    for column in (column for some in sets for column in some):
        held.setdefault(column.name, set()).add(column.type)
    whole = {column.name: column.type for column in common([*sets, columns])}
    found = [
        f"column {shown(column.name)} is declared {column.type}, and ranges of the table hold it "
        f"as {' and '.join(sorted(held[column.name]))}: the table's type of it is json, which "
        "stays so when the spec is taken back; to avoid that, give the column another name"
        for column in columns
        if column.name in held and column.type != "json" and whole[column.name] == "json"
    ]
    return found[:_SHOWN_MAX]
