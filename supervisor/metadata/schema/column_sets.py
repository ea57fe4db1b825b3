"""Lists of columns, each stored once: the segments of a table have mostly the same.

A list's key is a digest of it, so that who stores the same list at the same time stores it under
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


class ColumnSets:
    """The stored lists; they are never changed."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def put(self, sets: Iterable[Columns]) -> None:
        """Store the lists that are not stored yet."""
        wanted = {key: columns for columns in sets if (key := set_id(columns)) is not None}
        for key in sorted(wanted.keys() - self.read(wanted).keys()):
            row = {"id": key, "columns": _document(wanted[key])}
            insert_unless_taken(self._db, (column_sets, [row]))  # taken: by the same list

    def read(self, ids: Iterable[str]) -> dict[str, Columns]:
        """Return the lists of those keys that are stored."""
        at = column_sets.c
        return {
            row.id: tuple(Column.model_validate(column) for column in row.columns)
            for some in chunks(ids)
            for row in self._db.execute(select(at.id, at.columns).where(at.id.in_(some)))
        }


def set_id(columns: Columns) -> str | None:
    """Return the key of a list; None: it is not known, and not stored."""
    if not columns:
        return None
    text = json.dumps(_document(columns), separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]


def _document(columns: Columns) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.type} for column in columns]
