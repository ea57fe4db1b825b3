"""The files of tables as the checkers see them: SQL of their own, and what they remember."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

Contents: TypeAlias = Counter[tuple[object, ...]]
"""The rows of a file, as a multiset."""


class TableFile(NamedTuple):
    """A published file, in its table or out of it."""

    id: str
    table: str
    path: str
    ends: str
    """The end of its time chunk."""
    unused_at: str | None
    deleted_at: str | None
    compaction: str | None
    """The compaction that wrote it."""
    replaced_by: str | None

    @property
    def used(self) -> bool:
        """Whether it is part of its table."""
        return self.unused_at is None


class CompactionRow(NamedTuple):
    """One attempt to put a file in the place of others."""

    id: str
    table: str
    inputs: tuple[str, ...]
    status: str
    worker: str
    ended_at: str | None


class Marking(NamedTuple):
    """One audited change of which files are part of a table."""

    actor: str
    action: str
    table: str
    files: int


@dataclass
class TableLedger:
    """What the checkers of tables remember of the last look."""

    files: Mapping[str, TableFile] = field(default_factory=dict)
    contents: dict[str, Contents] = field(default_factory=dict)
    """TableFile -> its rows when it was first seen."""
    origins: dict[str, frozenset[str]] = field(default_factory=dict)
    """TableFile -> the files that tasks have published whose rows it has."""
    unused_since: dict[str, float] = field(default_factory=dict)
    condemned_since: dict[str, float] = field(default_factory=dict)
    enabled_since: dict[tuple[str, str], float] = field(default_factory=dict)
    """Export -> since when it is switched on."""
    advanced: dict[tuple[str, str], tuple[int, str | None]] = field(default_factory=dict)
    """Export -> its sequence, and when it was last equal to its table."""
    audited: int = 0
    heard: int = 0
    versions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Export -> how many of its versions were looked at."""


def read_files(db: sqlite3.Connection) -> dict[str, TableFile]:
    """Return every published file by its id."""
    rows = db.execute(
        "SELECT id, data_source, path, interval_end, unused_at, deleted_at, compaction_id,"
        " replaced_by FROM segments ORDER BY id"
    )
    return {row[0]: TableFile(*row) for row in rows}


def read_compactions(db: sqlite3.Connection) -> dict[str, CompactionRow]:
    """Return every compaction by its id."""
    rows = db.execute(
        "SELECT id, data_source, inputs, status, worker_id, ended_at FROM compactions"
    )
    return {r[0]: CompactionRow(r[0], r[1], tuple(json.loads(r[2])), *r[3:]) for r in rows}


def markings(db: sqlite3.Connection, ledger: TableLedger) -> Iterator[Marking]:
    """Yield the audited markings since the last look."""
    rows = db.execute(
        "SELECT id, actor, action, subject, detail FROM audit WHERE id > ? ORDER BY id",
        (ledger.audited,),
    ).fetchall()
    for number, actor, action, table, detail in rows:
        ledger.audited = number
        if action in {"mark-unused", "mark-used"}:
            yield Marking(actor, action, table, int(json.loads(detail)["segments"]))


def by_table(marked: Sequence[Marking], action: str) -> Counter[str]:
    """Return how many files of each table were marked so."""
    files: defaultdict[str, int] = defaultdict(int)
    for marking in marked:
        if marking.action == action:
            files[marking.table] += marking.files
    return Counter(files)


def seconds_of(text: str) -> float:
    """Return a stored time in seconds since 1970."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
