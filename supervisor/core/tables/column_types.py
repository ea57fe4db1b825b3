"""Warnings about columns that a spec declares with another type than published files have.

A table has one type per column, which fits every value of its files.  Texts in old files and
numbers in new files become texts; an array beside a number becomes `json`.  Published files are
never rewritten.
"""

from collections.abc import Iterable, Sequence

from supervisor.core.values.field_types import shown
from tasks.contract.ingest_spec import Column
from tasks.rows.discovery import common

_SHOWN_MAX = 20
"""The maximum of warnings in one answer."""


def mixed_types(columns: Sequence[Column], published: Iterable[Sequence[Column]]) -> list[str]:
    """Return a warning for each declared column whose type in the table is text or `json` instead.

    `published` has one list of columns for each file that the table has, or will have.
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
