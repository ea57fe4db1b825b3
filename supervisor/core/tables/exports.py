"""Tables in other formats, over the same files: what is asked for, what stands, what differs.

    published list ── change_of ──► files to add, files to take out ──► one commit of the format
          ▲ at sequence N                                                     │
          └──────────────── the exported table stands at N ◄──────────────────┘

An export is level-triggered: an event says only that the list may have changed, and the exported
table is made equal to the list as it is then.  A repeat, another order or a lost answer change
nothing.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from supervisor.core.model.rows import Segment
from supervisor.core.queue.events import QueueName
from supervisor.core.values.errors import NotExportable
from supervisor.core.values.export_formats import ExportFormat
from tasks.rows.discovery import common

KIND = "export"
"""Of the events; the key is the table."""
_CONTAINER = "table:"


@dataclass(frozen=True)
class ExportVersion:
    """An exported table as a reader finds it."""

    version: int | None = None
    """A Delta version, an Iceberg sequence number; None: there is no table yet."""
    location: str = ""
    """What a reader opens, below the warehouse: Delta's folder, Iceberg's metadata file."""


@dataclass(frozen=True)
class Export:
    """One table in one format, as the metadata database has it."""

    data_source: str
    format: ExportFormat
    enabled: bool
    sequence: int = 0
    """Of the published list that it was last made equal to; 0: never."""
    standing: ExportVersion = ExportVersion()
    exported_at: datetime | None = None
    """When it was last found, or made, equal to the published list."""
    problem: str = ""
    """Why it stands still until somebody acts; empty: it does not."""
    behind_since: datetime | None = None
    """When the list changed first that the problem keeps out."""

    def switched(self, *, on: bool) -> "Export":
        """Return it switched on or off; what is exported stays as it is."""
        return replace(self, enabled=on, problem="", behind_since=None)

    def advanced_to(self, sequence: int, standing: ExportVersion, now: datetime) -> "Export":
        """Return it made equal to the list at `sequence`; a later one stays."""
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
        """Return it standing still; what it has stays as it is."""
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
"""What in a path deltalake 1.6 and PyIceberg 0.12 take for part of a URL: tables land elsewhere."""


def misread_in(warehouse: str) -> dict[ExportFormat, str]:
    """Return, of the formats that cannot be written there, what in the path is in the way."""
    found = {each: pattern.search(warehouse) for each, pattern in _MISREAD.items()}
    return {each: match.group() for each, match in found.items() if match is not None}


def log_of(export: Export) -> str:
    """Return where an export's log lies, below the warehouse: whatever lies there is its."""
    return f"{export.data_source}/{_LOGS[export.format]}"


def copies_of(path: str) -> str:
    """Return the folder of all copies of a published file; both below the warehouse."""
    data_source, _, below = path.partition("/")
    return f"{data_source}/{_COPIES}/{_digest(below)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def queue_of(data_source: str, table_format: ExportFormat) -> QueueName:
    """Return the queue of a table's export: one that is stuck holds up no other."""
    return QueueName(f"{_CONTAINER}{data_source}", queue_name(table_format))


def queue_name(table_format: ExportFormat) -> str:
    """Return the name that the queues of one format have in every container."""
    return f"export-{table_format}"


class ExportState(StrEnum):
    """How an export stands to its table."""

    OFF = "off"
    """It follows nothing; what was exported stays as it was."""
    STUCK = "stuck"
    """The files do not fit into one table of the format: somebody has to act."""
    FAILING = "failing"
    """It could not be done and is tried again."""
    BEHIND = "behind"
    """The table has changed, and it is about to follow."""
    EQUAL = "equal"
    """It is what the published list is."""


@dataclass(frozen=True)
class Waiting:
    """What its queue says of an export."""

    since: datetime | None = None
    """When the first event that waits was added; None: none waits."""
    failures: int = 0
    """Tries in a row that failed."""
    error: str = ""
    """Of the last one; or why the queue is dead."""


def state_of(export: Export, waiting: Waiting) -> ExportState:
    """Return how an export stands."""
    if not export.enabled:
        return ExportState.OFF
    if export.problem:
        return ExportState.STUCK
    if waiting.failures or waiting.error:
        return ExportState.FAILING
    return ExportState.EQUAL if waiting.since is None else ExportState.BEHIND


def lag_of(export: Export, waiting_since: datetime | None, now: datetime) -> timedelta:
    """Return how old the oldest change is that is not exported; zero: there is none.

    `waiting_since`: when the first event that waits in its queue was added.
    """
    if not export.enabled:
        return timedelta(0)
    marks = [at for at in (export.behind_since, waiting_since) if at is not None]
    return max(timedelta(0), now - min(marks)) if marks else timedelta(0)


@dataclass(frozen=True)
class Cast:
    """A column whose type has grown since a file was written; types as columns have them."""

    name: str
    was: str
    wanted: str


@dataclass(frozen=True)
class ExportedFile:
    """One file as an exported table has to know it."""

    path: str
    """Below the table's folder, which is the root of the exported table."""
    size_bytes: int
    rows: int
    time_min: datetime
    time_max: datetime
    published_at: datetime
    source: str = ""
    """The published file that this is a copy of, below the same folder; empty: it is none."""
    casts: tuple[Cast, ...] = ()
    """What differs in a copy."""


@dataclass(frozen=True)
class ExportChange:
    """What makes an exported table equal to the published list, in one commit."""

    add: tuple[ExportedFile, ...] = ()
    remove: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """They are equal."""
        return not self.add and not self.remove


def change_of(held: Collection[str], wanted: Sequence[ExportedFile]) -> ExportChange:
    """Return what to add to files that are `held`, and what to take out; both by path."""
    names = {file.path for file in wanted}
    add = (file for file in wanted if file.path not in held)
    return ExportChange(
        tuple(sorted(add, key=lambda file: file.path)), tuple(sorted(set(held) - names))
    )


def files_of(
    data_source: str, segments: Iterable[Segment], declared: Collection[str] = ()
) -> list[ExportedFile]:
    """Return the used segments of a table as files below its folder.

    A segment with a column of another type than the table's is a copy, which may not be there yet;
    its size is that of the segment's own file.  `declared`: see `tasks.rows.discovery.common`.

    Raises:
        NotExportable: a file lies elsewhere: formats name files below their table's root.
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
    """Refuse columns of a file whose names no exported table may have beside those that are held.

    Raises:
        NotExportable: two names differ in case only, and readers of an exported table do not tell
            them apart; or a name holds NUL, where libraries end it.
    """
    by_case = {name.lower(): name for name in held}
    for name in names:
        if "\0" in name:
            raise NotExportable(f"column {name!a} of {path} holds NUL in its name")
        known = by_case.setdefault(name.lower(), name)
        if known != name:
            raise NotExportable(f"column {name} of {path} differs in case only from {known}")


def new_columns(held: Mapping[str, str], path: str, columns: Mapping[str, str]) -> list[str]:
    """Return the columns of one file, name -> type, that a table does not have yet, in order.

    Raises:
        NotExportable: a column has another type there, or a name that no table may have.
    """
    refuse_names(held, path, columns)
    for name, its_type in columns.items():
        if held.get(name, its_type) != its_type:
            raise NotExportable(
                f"column {name} is {held[name]} in the exported table and {its_type} in {path}"
            )
    return [name for name in columns if name not in held]
