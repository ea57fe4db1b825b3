"""What a spec's types of columns make of a table whose files have other types: words for people.

A table has one type per column, which every value of its files fits: texts of old files and
numbers of new ones are texts, and an array beside a number is `json`.  Published files are never
rewritten for it.
"""

from collections.abc import Iterable, Sequence

from supervisor.core.values.field_types import shown
from tasks.contract.ingest_spec import Column
from tasks.rows.discovery import common

_SHOWN_MAX = 20
"""Columns of which one answer warns."""


def mixed_types(columns: Sequence[Column], published: Iterable[Sequence[Column]]) -> list[str]:
    """Return a warning for each declared column that its table shows as texts or as `json` instead.

    `published` are the lists of columns that the table's files have, or will have.
    """
    held: dict[str, set[str]] = {}
    sets = list(published)
    for column in (column for some in sets for column in some):
        held.setdefault(column.name, set()).add(column.type)
    declared = {column.name for column in columns}
    whole = {column.name: column.type for column in common([*sets, columns], declared)}
    warnings = [
        f"column {shown(column.name)} is declared {column.type}, and ranges of the table hold it "
        f"as {' and '.join(sorted(held[column.name]))}: the table's type of it is "
        f"{whole[column.name]} as long as it has files of both; to avoid that, give the column "
        "another name"
        for column in columns
        if column.name in held and whole[column.name] in {"json", "string"} - {column.type}
    ]
    return warnings[:_SHOWN_MAX]
