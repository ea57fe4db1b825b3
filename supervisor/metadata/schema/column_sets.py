"""Content-addressed lists of columns: most segments of a table share one list.

The key of a list is its digest.  So two transactions that store the same list at the same time use
the same key.
"""

import hashlib
import json
from collections.abc import Iterable

from sqlalchemy import Connection, select

from supervisor.metadata.schema.rows import chunks, insert_unless_taken
from supervisor.metadata.schema.tables import column_sets
from tasks.contract.ingest_spec import Column

Columns = tuple[Column, ...]

_ID_LENGTH = 32


class StoredColumnSets:
    """The stored lists, which never change."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def put(self, sets: Iterable[Columns]) -> None:
        """Store the lists that are not stored yet."""
        wanted = {key: columns for columns in sets if (key := set_id(columns)) is not None}
        for key in sorted(wanted.keys() - self.read(wanted).keys()):
            row = {"id": key, "columns": _document(wanted[key])}
            insert_unless_taken(self._db, (column_sets, [row]))  # a taken key has the same list

    def read(self, ids: Iterable[str]) -> dict[str, Columns]:
        """Return key -> list, for the keys that are stored."""
        at = column_sets.c
        return {
            row.id: tuple(Column.model_validate(column) for column in row.columns)
            for some in chunks(ids)
            for row in self._db.execute(select(at.id, at.columns).where(at.id.in_(some)))
        }


def set_id(columns: Columns) -> str | None:
    """Return the key of a list; None if the list is empty: its columns are not known or stored."""
    if not columns:
        return None
    text = json.dumps(_document(columns), separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]


def _document(columns: Columns) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.type} for column in columns]
