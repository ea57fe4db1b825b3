"""Tables as Delta Lake: a log beside the files, written by `deltalake`; no file is copied.

    <warehouse>/<data source>/_delta_log/     every version names files of data/, below this folder

`max_commit_retries` 0 makes each commit a compare-and-swap on the version that was opened: it
becomes exactly the next one, or fails.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from supervisor.core.exports import (
    Change,
    ExportedFile,
    ExportUnavailable,
    Standing,
    new_columns,
)

_TIME = "__time"
_CONFIGURATION = {"delta.appendOnly": "false"}


@dataclass(frozen=True)
class DeltaFormat:
    """See `ports_exports.TableFormat`."""

    warehouse: Path

    def open(self, data_source: str) -> "OpenDelta":
        """Read the newest version of the log, if there is one."""
        root = self.warehouse / data_source
        with _errors_are_ours(data_source):
            is_there = DeltaTable.is_deltatable(str(root))
            return OpenDelta(root, DeltaTable(str(root)) if is_there else None)


class OpenDelta:
    """See `ports_exports.OpenTable`."""

    def __init__(self, root: Path, table: DeltaTable | None) -> None:
        """Keep the version that was read: a commit goes through against this one alone."""
        self._root = root
        self._table = table
        self._sizes = _sizes_of(table)

    @property
    def held(self) -> Mapping[str, int]:
        """Path -> size in bytes."""
        return self._sizes

    @property
    def standing(self) -> Standing:
        """Where it is, and at which version."""
        if self._table is None:
            return Standing()
        return Standing(self._table.version(), self._root.name)

    def commit(self, change: Change, sequence: int, now: datetime) -> Standing:
        """Add and take out files in one version; new columns are a version of their own before.

        In between readers see the new columns, null, and the rows from before.
        """
        with _errors_are_ours(self._root.name):
            known = {} if self._table is None else _types(self._table.schema())
            added = _columns(self._root, change.add, known)
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
                return Standing(0, self._root.name)
            if added:
                self._grow(self._table, added)
            removals = [self._remove(path, now) for path in change.remove]
            self._table.create_write_transaction(
                [*actions, *removals],
                "append",
                self._table.schema(),
                commit_properties=properties,
            )
            return Standing(self._table.version() + 1, self._root.name)

    def _grow(self, table: DeltaTable, added: Sequence[Field]) -> None:
        before = table.version()
        table.alter.add_columns(list(added), commit_properties=_ONCE)
        table.load_as_version(before + 1)  # ours: the newest may be somebody else's by now

    def _remove(self, path: str, now: datetime) -> RemoveAction:
        return RemoveAction(path, True, _millis(now), self._sizes[path])

    def _properties(self, sequence: int) -> CommitProperties:
        return CommitProperties(
            app_transactions=[Transaction(f"tidegate/{self._root.name}", sequence)],
            custom_metadata={"tidegate.sequence": str(sequence)},
            max_commit_retries=0,
        )


_ONCE = CommitProperties(max_commit_retries=0)


def _sizes_of(table: DeltaTable | None) -> dict[str, int]:
    if table is None:
        return {}
    held = pa.table(table.get_add_actions()).select(["path", "size_bytes"])
    return dict(zip(*(column.to_pylist() for column in held.columns), strict=True))


def _columns(root: Path, files: Sequence[ExportedFile], known: Mapping[str, str]) -> list[Field]:
    """Return the columns that these files have and the table does not."""
    types, found = dict(known), []
    for file in files:
        schema = Schema.from_arrow(pq.read_schema(root / file.path))
        fields = {field.name: field for field in schema.fields}
        its_types = _types(schema)
        for name in new_columns(types, file.path, its_types):
            found.append(Field(name, fields[name].type, nullable=True))
            types[name] = its_types[name]
    return found


def _types(schema: Schema) -> dict[str, str]:
    return {field.name: _told(field) for field in schema.fields}


def _told(field: Field) -> str:
    """Return a column's type as the format writes it; a list's is a JSON object."""
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
