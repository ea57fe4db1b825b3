"""The metadata database as the checkers see it: SQL of their own, nothing of the repositories."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

LIVE = {"READING", "PAUSING", "PUBLISHING"}
OPEN = {"READING", "PAUSING"}


class Part(NamedTuple):
    """One partition of one supervisor's topic."""

    supervisor: str
    topic: str
    partition: int


class Committed(NamedTuple):
    """A row of the committed offsets."""

    next: int
    first: int
    topic_id: str
    epoch: int


class Range(NamedTuple):
    """One partition of one generation; `end` None: not fixed."""

    start: int
    end: int | None
    open: bool
    epoch: int


class Generation(NamedTuple):
    """A row of the generations."""

    id: str
    supervisor: str
    ordinal: int
    state: str
    sequence: int
    ended_at: str | None


class Task(NamedTuple):
    """A row of the tasks."""

    id: str
    supervisor: str
    generation: str
    replica: int
    attempt: int
    worker: str
    incarnation: int
    status: str
    ended_at: str | None
    outcome: str | None
    published: bool


class Publication(NamedTuple):
    """A row of the publications, its offsets taken apart."""

    generation: str
    supervisor: str
    task: str
    published_at: str
    start: Mapping[Part, int]
    end: Mapping[Part, int]
    rows: int
    rejected: int


class Gap(NamedTuple):
    """A declared break."""

    part: Part
    first: int
    end: int
    kind: str


class Segment(NamedTuple):
    """One published file that is part of its table."""

    path: str
    generation: str
    task: str
    rows: int


Fingerprint: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Rows:
    """Every row that a rule is about, read in one go."""

    term: int
    committed: Mapping[Part, Committed]
    generations: Mapping[str, Generation]
    ranges: Mapping[str, Mapping[Part, Range]]
    tasks: Mapping[str, Task]
    publications: Mapping[str, Publication]
    gaps: tuple[Gap, ...]
    resets: int
    """Audit rows of resets, and of forgetting a supervisor."""

    def winner(self, generation: str) -> str | None:
        """Return the task that published a generation."""
        found = self.publications.get(generation)
        return None if found is None else found.task


NO_ROWS = Rows(0, {}, {}, {}, {}, {}, (), 0)


def fingerprint(db: sqlite3.Connection) -> Fingerprint:
    """Return what differs after every commit, by this connection or another one."""
    return db.total_changes, db.execute("PRAGMA data_version").fetchone()[0]


def read_rows(db: sqlite3.Connection, before: Rows) -> Rows:
    """Read everything; publications never change, so those of `before` are not parsed again."""
    return Rows(
        term=next((row[0] for row in db.execute("SELECT term FROM leader_term")), 0),
        committed={
            Part(*row[:3]): Committed(*row[3:])
            for row in db.execute(
                "SELECT supervisor_id, topic, partition, next_offset, first_offset, topic_id,"
                " reset_epoch FROM committed_offsets ORDER BY 1, 2, 3"
            )
        },
        generations={
            row[0]: Generation(*row)
            for row in db.execute(
                "SELECT id, supervisor_id, ordinal, state, sequence, ended_at"
                " FROM generations ORDER BY supervisor_id, ordinal, id"
            )
        },
        ranges=_ranges(db),
        tasks={
            row[0]: Task._make((*row[:10], bool(row[10])))
            for row in db.execute(
                "SELECT id, supervisor_id, generation_id, replica, attempt, worker_id,"
                " incarnation, status, ended_at, outcome, published FROM tasks ORDER BY id"
            )
        },
        publications=_publications(db, before.publications),
        gaps=tuple(
            Gap(Part(*row[:3]), *row[3:])
            for row in db.execute(
                "SELECT supervisor_id, topic, partition, first, end, kind"
                " FROM offset_gaps ORDER BY id"
            )
        ),
        resets=db.execute(
            "SELECT count(*) FROM audit WHERE action LIKE 'reset%' OR action LIKE '%forg%'"
        ).fetchone()[0],
    )


def _ranges(db: sqlite3.Connection) -> dict[str, dict[Part, Range]]:
    ranges: dict[str, dict[Part, Range]] = defaultdict(dict)
    for row in db.execute(
        "SELECT generation_id, supervisor_id, topic, partition, start_offset, end_offset, open,"
        " coalesce(reset_epoch, 0) FROM generation_partitions ORDER BY 1, 3, 4"
    ):
        ranges[row[0]][Part(*row[1:4])] = Range(row[4], row[5], bool(row[6]), row[7])
    return dict(ranges)


def _publications(
    db: sqlite3.Connection, known: Mapping[str, Publication]
) -> dict[str, Publication]:
    publications = {}
    for row in db.execute(
        "SELECT generation_id, supervisor_id, task_id, published_at, start_offsets, end_offsets,"
        " rows, rejected FROM publications ORDER BY published_at, generation_id"
    ):
        publications[row[0]] = known.get(row[0]) or Publication._make(
            (*row[:4], _offsets(row[1], row[4]), _offsets(row[1], row[5]), *row[6:])
        )
    return publications


def _offsets(supervisor: str, text: str) -> dict[Part, int]:
    offsets = {}
    for name, offset in json.loads(text).items():
        topic, _, number = name.rpartition(":")
        offsets[Part(supervisor, topic, int(number))] = offset
    return offsets


def used_segments(db: sqlite3.Connection, generation: str, *, errors: bool) -> list[Segment]:
    """Return the files that tasks published of a generation, for the table or its errors table."""
    return [
        Segment(*row)
        for row in db.execute(
            "SELECT path, generation_id, task_id, rows FROM segments WHERE deleted_at IS NULL"
            " AND compaction_id IS NULL AND generation_id = :generation"
            " AND (substr(data_source, -8) = '__errors') = :errors"
            " ORDER BY path",
            {"generation": generation, "errors": errors},
        )
    ]
