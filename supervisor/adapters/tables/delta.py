"""Delta Lake exports: a log beside the files, written by `deltalake`; no file is copied.

    <warehouse>/<data source>/_delta_log/     each version names files in <data source>/data/

With `max_commit_retries` 0, each commit is a compare-and-swap on the opened version: the commit
becomes exactly the next version, or fails.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from supervisor.core.tables.exports import (
    ExportChange,
    ExportedFile,
    ExportVersion,
    new_columns,
    refuse_names,
)
from supervisor.core.values.errors import ExportUnavailable

_TIME = "__time"
_INDEXED = {"delta.dataSkippingNumIndexedCols": "1"}
"""Our files have statistics of their first column alone, which is `__time`.

Without this deltalake 1.6 takes a column that has none for one without any value: a filter on it
leaves the rows out.
"""
_CONFIGURATION = {"delta.appendOnly": "false", **_INDEXED}


@dataclass(frozen=True)
class DeltaFormat:
    """See `ports.tables.exports.TableFormat`."""

    warehouse: Path

    def open(self, data_source: str) -> "OpenDelta":
        """Open the newest version of the log, if there is a log."""
        root = self.warehouse / data_source
        with _errors_are_ours(data_source):
            is_there = DeltaTable.is_deltatable(str(root))
            return OpenDelta(root, DeltaTable(str(root)) if is_there else None)


class OpenDelta:
    """See `ports.tables.exports.OpenTable`."""

    def __init__(self, root: Path, table: DeltaTable | None) -> None:
        """Keep the version that was read, because a commit succeeds only against this version."""
        self._root = root
        self._table = table
        self._sizes = _sizes_of(table)

    @property
    def held(self) -> Mapping[str, int]:
        """Path -> size in bytes."""
        return self._sizes

    @property
    def standing(self) -> ExportVersion:
        """Location and version of the exported table."""
        if self._table is None:
            return ExportVersion()
        return ExportVersion(self._table.version(), self._root.name)

    def commit(self, change: ExportChange, sequence: int, now: datetime) -> ExportVersion:
        """Add and take out files in one version; new columns are a version of their own before.

        So is the property that a table from an early version lacks.  In between readers see the
        new columns, null, and the rows from before.  Where a column gets another type there is one
        version for all.
        """
        with _errors_are_ours(self._root.name):
            known = {} if self._table is None else _types(self._table.schema())
            column_changes = _columns(self._root, change.add, known)
            added = [each.field for name, each in column_changes.items() if name not in known]
            actions = [_add(file) for file in change.add]
            properties = self._properties(sequence)
            if self._table is None:
                create_table_with_add_actions(
                    str(self._root),
                    Schema(added),
                    actions,
                    mode="error",
                    configuration=_CONFIGURATION,
                    commit_properties=properties,
                )
                return ExportVersion(0, self._root.name)
            if changed := {name: each for name, each in column_changes.items() if name in known}:
                self._refuse_if_any_stays(change, known, changed)
                before = self._table.schema().fields
                grown = [changed[f.name].field if f.name in changed else f for f in before]
                version = _Version(self._table, Schema([*grown, *added]), sequence, now)
                version.write(self._root, change, self._sizes)
                return ExportVersion(self._table.version() + 1, self._root.name)
            self._limit_indexed_columns(self._table)
            if added:
                self._grow(self._table, added)
            removals = [self._remove(path, now) for path in _gone(change)]
            self._table.create_write_transaction(
                [*actions, *removals],
                "append",
                self._table.schema(),
                commit_properties=properties,
            )
            return ExportVersion(self._table.version() + 1, self._root.name)

    def _refuse_if_any_stays(
        self, change: ExportChange, known: Mapping[str, str], changed: Mapping[str, "_ColumnChange"]
    ) -> None:
        """Raise NotExportable if a remaining file has another type than its column would get."""
        for path in sorted(self._sizes.keys() - set(change.remove)):
            types = _types(Schema.from_arrow(pq.read_schema(self._root / path)))
            for name in changed.keys() & types.keys():
                if (wanted := _delta_type(changed[name].field)) != types[name]:
                    new_columns(known, changed[name].path, {name: wanted})

    def _limit_indexed_columns(self, table: DeltaTable) -> None:
        if _INDEXED.items() <= table.metadata().configuration.items():
            return
        before = table.version()
        table.alter.set_table_properties(_INDEXED, commit_properties=_ONCE)
        table.load_as_version(before + 1)  # ours, as in `_grow`

    def _grow(self, table: DeltaTable, added: Sequence[Field]) -> None:
        before = table.version()
        table.alter.add_columns(list(added), commit_properties=_ONCE)
        table.load_as_version(before + 1)  # ours: the newest may be somebody else's by now

    def _remove(self, path: str, now: datetime) -> RemoveAction:
        return RemoveAction(path, True, _millis(now), self._sizes[path])

    def _properties(self, sequence: int) -> CommitProperties:
        return CommitProperties(
            app_transactions=[Transaction(_application(self._root), sequence)],
            custom_metadata={"tidegate.sequence": str(sequence)},
            max_commit_retries=0,
        )


_ONCE = CommitProperties(max_commit_retries=0)


def _sizes_of(table: DeltaTable | None) -> dict[str, int]:
    if table is None:
        return {}
    held = pa.table(table.get_add_actions()).select(["path", "size_bytes"])
    return dict(zip(*(column.to_pylist() for column in held.columns), strict=True))


@dataclass(frozen=True)
class _ColumnChange:
    """A column of new files that is missing in the table, or has another type there."""

    field: Field
    path: str
    """The first file that has the column with this type."""


def _columns(
    root: Path, files: Sequence[ExportedFile], known: Mapping[str, str]
) -> dict[str, _ColumnChange]:
    types: dict[str, str] = {}
    changes: dict[str, _ColumnChange] = {}
    for file in files:
        read = pq.read_schema(root / file.path)
        refuse_names([*known, *types], file.path, read.names)  # first: the library names no file
        schema = Schema.from_arrow(read)
        for field in schema.fields:
            name, its_type = field.name, _delta_type(field)
            if known.get(name) != its_type and name not in changes:
                changes[name] = _ColumnChange(Field(name, field.type, nullable=True), file.path)
            if types.setdefault(name, its_type) != its_type:
                refused = changes[name]
                held = known.get(name, types[name])
                path = refused.path if name in known else file.path
                new_type = _delta_type(refused.field) if name in known else its_type
                new_columns({name: held}, path, {name: new_type})
    return changes


@dataclass(frozen=True)
class _Version:
    """A version in which columns change their types; the library cannot write such a version.

    A writer of Delta may change the schema with whatever files it likes, if no file stays that
    does not fit: https://github.com/delta-io/delta/blob/master/PROTOCOL.md
    """

    table: DeltaTable
    schema: Schema
    sequence: int
    now: datetime

    def write(self, root: Path, change: ExportChange, sizes: Mapping[str, int]) -> None:
        """Write the log file of the next version atomically, unless the file exists."""
        actions = [*self._head(root), *map(_add_line, change.add)]
        actions += [self._remove_line(path, sizes[path]) for path in _gone(change)]
        log = root / "_delta_log"
        half = log / f"_commit_{uuid4().hex}.json.tmp"  # a name that readers pass over
        try:
            with half.open("x", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(action)}\n" for action in actions)
                file.flush()
                os.fsync(file.fileno())
            os.link(half, log / f"{self.table.version() + 1:020}.json")  # fails if it is there
        finally:
            half.unlink(missing_ok=True)

    def _head(self, root: Path) -> list[dict[str, object]]:
        about, millis = self.table.metadata(), _millis(self.now)
        commit_info = {
            "timestamp": millis,
            "operation": "WRITE",
            "operationParameters": {"mode": "Append"},
            "engineInfo": "tidegate",
            "tidegate.sequence": str(self.sequence),
        }
        transaction = {
            "appId": _application(root),
            "version": self.sequence,
            "lastUpdated": millis,
        }
        metadata = {
            "id": about.id,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": self.schema.to_json(),
            "partitionColumns": [],
            "configuration": {**about.configuration, **_INDEXED},
            "createdTime": about.created_time,
        }
        return [{"commitInfo": commit_info}, {"txn": transaction}, {"metaData": metadata}]

    def _remove_line(self, path: str, size_bytes: int) -> dict[str, object]:
        removed = {
            "path": path,
            "deletionTimestamp": _millis(self.now),
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": {},
            "size": size_bytes,
        }
        return {"remove": removed}


def _add_line(file: ExportedFile) -> dict[str, object]:
    added = _add(file)
    return {
        "add": {
            "path": added.path,
            "partitionValues": {},
            "size": added.size,
            "modificationTime": added.modification_time,
            "dataChange": True,
            "stats": added.stats,
        }
    }


def _gone(change: ExportChange) -> list[str]:
    """Return removed paths that are not added again: for a path in both, the later line counts."""
    again = {file.path for file in change.add}
    return [path for path in change.remove if path not in again]


def _application(root: Path) -> str:
    return f"tidegate/{root.name}"


def _types(schema: Schema) -> dict[str, str]:
    return {field.name: _delta_type(field) for field in schema.fields}


def _delta_type(field: Field) -> str:
    """Return a column's type as Delta Lake writes it; the type of a list is a JSON object."""
    its_type = json.loads(field.to_json())["type"]
    return its_type if isinstance(its_type, str) else json.dumps(its_type, sort_keys=True)


def _add(file: ExportedFile) -> AddAction:
    stats = {
        "numRecords": file.rows,
        "minValues": {_TIME: _instant(file.time_min)},
        "maxValues": {_TIME: _instant(file.time_max)},
        "nullCount": {_TIME: 0},
    }
    return AddAction(
        path=file.path,
        size=file.size_bytes,
        partition_values={},
        modification_time=_millis(file.published_at),
        data_change=True,
        stats=json.dumps(stats),
    )


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1_000)


@contextmanager
def _errors_are_ours(data_source: str) -> Iterator[None]:
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise ExportUnavailable(f"the Delta table of {data_source}: {error}") from error
