"""Exports of tables to other formats over the same files: state, differences, copies.

    published list ── change_of ──► files to add, files to take out ──► one commit of the format
          ▲ at sequence N                                                     │
          └──────────────── the exported table is at N ◄──────────────────────┘

An export is level-triggered: an event says only that the list may have changed, and its handler
makes the exported table equal to the present list.  Repeated or reordered events and lost answers
do no harm.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.queue.events import QueueName
from supervisor.core.values.errors import NotExportable
from supervisor.core.values.export_formats import ExportFormat
from tasks.rows.discovery import common

KIND = "export"
"""Kind of the queued events; their key is the table."""
_CONTAINER = "table:"


@dataclass(frozen=True)
class ExportVersion:
    """The newest version of an exported table, which readers open."""

    version: int | None = None
    """Delta version or Iceberg sequence number; None: the table does not exist yet."""
    location: str = ""
    """Path below the warehouse that a reader opens: Delta's folder, Iceberg's metadata file."""


@dataclass(frozen=True)
class Export:
    """One export, a table in one format: its row in the metadata database."""

    data_source: str
    format: ExportFormat
    enabled: bool
    sequence: int = 0
    """Sequence of the published list that was exported last; 0: none was."""
    standing: ExportVersion = ExportVersion()
    exported_at: datetime | None = None
    """When the exported table was last equal to the published list."""
    problem: str = ""
    """Why the export is stuck until somebody acts; empty: it is not stuck."""
    behind_since: datetime | None = None
    """Time of the first change of the list that the problem keeps from being exported."""

    def switched(self, *, on: bool) -> "Export":
        """Return the export switched on or off; the exported table stays as it is."""
        return replace(self, enabled=on, problem="", behind_since=None)

    def advanced_to(self, sequence: int, standing: ExportVersion, now: datetime) -> "Export":
        """Return the export equal to the list at `sequence`; unchanged if it is at a later one."""
        if sequence < self.sequence:
            return self
        return replace(
            self,
            sequence=sequence,
            standing=standing,
            exported_at=now,
            problem="",
            behind_since=None,
        )

    def stuck(self, problem: str, since: datetime) -> "Export":
        """Return the export stuck with a problem; the exported table stays as it is."""
        oldest = since if self.behind_since is None else min(since, self.behind_since)
        return replace(self, problem=problem, behind_since=oldest)


_COPIES = "widened"
_LOGS: Mapping[ExportFormat, str] = MappingProxyType(
    {ExportFormat.DELTA: "_delta_log", ExportFormat.ICEBERG: "metadata"}
)


_MISREAD: Mapping[ExportFormat, re.Pattern[str]] = MappingProxyType(
    {
        ExportFormat.DELTA: re.compile(r"%[0-9A-Fa-f]{2}|\\"),
        ExportFormat.ICEBERG: re.compile("[#?]"),
    }
)
"""Parts of a path that deltalake 1.6 and PyIceberg 0.12 misread as URL syntax, so that they would
write the table to another place."""


def misread_in(warehouse: str) -> dict[ExportFormat, str]:
    """Return format -> offending part of the path, of formats that cannot be written there."""
    found = {each: pattern.search(warehouse) for each, pattern in _MISREAD.items()}
    return {each: match.group() for each, match in found.items() if match is not None}


def log_of(export: Export) -> str:
    """Return the folder of an export's log, below the warehouse; all its files are the export's."""
    return f"{export.data_source}/{_LOGS[export.format]}"


def copies_of(path: str) -> str:
    """Return the folder of all copies of a published file; both below the warehouse."""
    data_source, _, below = path.partition("/")
    return f"{data_source}/{_COPIES}/{_digest(below)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def queue_of(data_source: str, table_format: ExportFormat) -> QueueName:
    """Return the queue of one export; each has its own, so that a stuck export delays no other."""
    return QueueName(f"{_CONTAINER}{data_source}", queue_name(table_format))


def queue_name(table_format: ExportFormat) -> str:
    """Return the name that the queues of one format have in every container."""
    return f"export-{table_format}"


class ExportState(StrEnum):
    """The state of an export, compared with its table."""

    OFF = "off"
    """Switched off; the exported table stays as it was."""
    STUCK = "stuck"
    """The files do not fit into one table of the format: somebody has to act."""
    FAILING = "failing"
    """The last try failed, and the export is tried again."""
    BEHIND = "behind"
    """The table has changed, and the export is about to follow."""
    EQUAL = "equal"
    """The exported table equals the published list."""


@dataclass(frozen=True)
class Waiting:
    """The state of an export's queue."""

    since: datetime | None = None
    """When the first waiting event was added; None: none waits."""
    failures: int = 0
    """Consecutive failed tries."""
    error: str = ""
    """The error of the last failure, or the reason why the queue is dead."""


def state_of(export: Export, waiting: Waiting) -> ExportState:
    """Return the state of an export."""
    if not export.enabled:
        return ExportState.OFF
    if export.problem:
        return ExportState.STUCK
    if waiting.failures or waiting.error:
        return ExportState.FAILING
    return ExportState.EQUAL if waiting.since is None else ExportState.BEHIND


def lag_of(export: Export, waiting_since: datetime | None, now: datetime) -> timedelta:
    """Return the age of the oldest change that is not exported; zero: there is none.

    `waiting_since`: when the first waiting event of the export's queue was added.
    """
    if not export.enabled:
        return timedelta(0)
    marks = [at for at in (export.behind_since, waiting_since) if at is not None]
    return max(timedelta(0), now - min(marks)) if marks else timedelta(0)


@dataclass(frozen=True)
class Cast:
    """A column whose type was widened since a file was written: its old and its new type."""

    name: str
    was: str
    wanted: str


@dataclass(frozen=True)
class ExportedFile:
    """One file of an exported table."""

    path: str
    """Path below the table's folder, which is the root of the exported table."""
    size_bytes: int
    rows: int
    time_min: datetime
    time_max: datetime
    published_at: datetime
    source: str = ""
    """Path of the published file, if this is a widened copy of it; empty: this is no copy."""
    casts: tuple[Cast, ...] = ()
    """The columns of a copy that are cast."""


@dataclass(frozen=True)
class ExportChange:
    """One commit that makes an exported table equal to the published list."""

    add: tuple[ExportedFile, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to commit."""
        return not self.add and not self.remove


def change_of(held: Collection[str], wanted: Sequence[ExportedFile]) -> ExportChange:
    """Return the change from the paths in `held` to the `wanted` files, sorted by path."""
    names = {file.path for file in wanted}
    add = (file for file in wanted if file.path not in held)
    return ExportChange(
        tuple(sorted(add, key=lambda file: file.path)), tuple(sorted(set(held) - names))
    )


def files_of(
    data_source: str, segments: Iterable[ListedSegment], declared: Collection[str] = ()
) -> list[ExportedFile]:
    """Return the used segments of a table as files below its folder.

    A segment with a column of another type than the table's is exported as a copy, which may not
    exist yet; `size_bytes` is that of the original.  `declared`: see `tasks.rows.discovery.common`.

    Raises:
        NotExportable: a file lies outside the table's folder, where no format can name it.
    """
    held = list(segments)
    types = {column.name: column.type for column in common((s.columns for s in held), declared)}
    files = []
    for segment in held:
        file = segment.file
        if not file.path.startswith(f"{data_source}/"):
            raise NotExportable(f"{file.path} does not lie in the folder {data_source}")
        own = ExportedFile(
            path=file.path.removeprefix(f"{data_source}/"),
            size_bytes=file.size_bytes,
            rows=file.rows,
            time_min=file.time_min,
            time_max=file.time_max,
            published_at=segment.published_at,
        )
        grown = ((c, types[c.name]) for c in segment.columns)
        casts = tuple(Cast(c.name, c.type, wanted) for c, wanted in grown if c.type != wanted)
        files.append(_copy(own, file.path, casts) if casts else own)
    return files


def _copy(own: ExportedFile, path: str, casts: tuple[Cast, ...]) -> ExportedFile:
    named = json.dumps([[cast.name, cast.wanted] for cast in casts])
    place = f"{copies_of(path)}/{_digest(named)}.parquet".partition("/")[2]
    return replace(own, path=place, source=own.path, casts=casts)


def refuse_names(held: Iterable[str], path: str, names: Iterable[str]) -> None:
    """Refuse column names of a file that an exported table cannot have beside those in `held`.

    Raises:
        NotExportable: two names differ in case only, which readers of an exported table ignore; or
            a name contains NUL, where libraries end a name.
    """
    by_case = {name.lower(): name for name in held}
    for name in names:
        if "\0" in name:
            raise NotExportable(f"column {name!a} of {path} holds NUL in its name")
        known = by_case.setdefault(name.lower(), name)
        if known != name:
            raise NotExportable(f"column {name} of {path} differs in case only from {known}")


def new_columns(held: Mapping[str, str], path: str, columns: Mapping[str, str]) -> list[str]:
    """Return the names of a file's columns that a table does not have yet, in order.

    `held` and `columns` are name -> type, of the table and of the file.

    Raises:
        NotExportable: a column has another type in the table, or a name that no table may have.
    """
    refuse_names(held, path, columns)
    for name, its_type in columns.items():
        if held.get(name, its_type) != its_type:
            raise NotExportable(
                f"column {name} is {held[name]} in the exported table and {its_type} in {path}"
            )
    return [name for name in columns if name not in held]
