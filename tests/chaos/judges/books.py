"""What the metadata database says, read beside the product: no proxy, no overlord, no view."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import psycopg
from psycopg import IsolationLevel


@dataclass(frozen=True)
class Snapshot:
    """One consistent look."""

    committed: dict[int, int]
    """Partition -> the offset up to which it is published."""
    files: tuple[str, ...]
    """Paths of published files below the warehouse."""
    publications: int
    rows: int


@dataclass(frozen=True)
class TaskRow:
    """A task as it ended."""

    id: str
    worker_id: str
    status: str
    lost: bool
    reason: str
    created_at: datetime
    ended_at: datetime | None
    outcome: str = ""
    """What it was answered when it asked to publish; empty: it was not."""

    @property
    def verdict(self) -> tuple[str, str]:
        """Status and reason, which no later event may change."""
        return self.status, self.reason


@dataclass(frozen=True)
class EventRow:
    """One happening, as it was written in the transaction of its change."""

    at: datetime
    generation: str
    task: str
    detail: dict[str, object]


class Books:
    """One connection for one thread; the database itself is never disturbed by the faults."""

    def __init__(self, url: str, supervisor_id: str) -> None:
        """Connect at once."""
        self._id = supervisor_id
        self._db = psycopg.connect(url, autocommit=True, options="-c timezone=UTC")

    def __enter__(self) -> Self:
        """Use it for one run."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Disconnect."""
        self._db.close()

    def look(self) -> Snapshot:
        """Return offsets and files of one moment."""
        self._db.autocommit = False
        self._db.isolation_level = IsolationLevel.REPEATABLE_READ
        try:
            with self._db.transaction():
                offsets = self._all(
                    "SELECT partition, next_offset FROM committed_offsets WHERE supervisor_id = %s"
                )
                files = self._all(
                    "SELECT path FROM segments WHERE supervisor_id = %s AND unused_at IS NULL"
                )
                [(count, rows)] = self._all(
                    "SELECT count(*), coalesce(sum(rows), 0)::bigint FROM publications"
                    " WHERE supervisor_id = %s"
                )
        finally:
            self._db.autocommit = True
        return Snapshot(
            {int(str(p)): int(str(o)) for p, o in offsets},
            tuple(str(path) for (path,) in files),
            int(str(count)),
            int(str(rows)),
        )

    def last_published(self) -> float | None:
        """Return when something was published last, in seconds since the epoch."""
        rows = self._all("SELECT max(published_at) FROM publications WHERE supervisor_id = %s")
        return None if rows[0][0] is None else _utc(rows[0][0]).timestamp()

    def leader(self) -> str:
        """Return the address of whoever leads; empty if nobody does."""
        rows = self._db.execute("SELECT url FROM leader_term").fetchall()
        return str(rows[0][0]) if rows else ""

    def term(self) -> int:
        """Return the number of the present term."""
        rows = self._db.execute("SELECT term FROM leader_term").fetchall()
        return int(rows[0][0]) if rows else 0

    def wanted(self) -> str:
        """Return `running`, `suspended`, `terminated` or `unknown`, by the newest spec."""
        rows = self._all(
            "SELECT spec IS NULL AND same_as IS NULL, spec::text, suspended"
            " FROM supervisor_specs WHERE supervisor_id = %s ORDER BY version DESC LIMIT 1"
        )
        if not rows:
            return "unknown"
        if rows[0][0]:
            return "terminated"
        if rows[0][2] is not None:
            return "suspended" if rows[0][2] else "running"
        return "suspended" if '"suspended":true' in str(rows[0][1]).replace(" ", "") else "running"

    def living(self) -> frozenset[str]:
        """Return the generations that are neither published nor given up."""
        return self._ids("SELECT id FROM generations WHERE supervisor_id = %s AND ended_at IS NULL")

    def publishing(self) -> frozenset[str]:
        """Return the live generations with a fixed end."""
        return self._ids(
            "SELECT id FROM generations WHERE supervisor_id = %s AND ended_at IS NULL"
            " AND end_fixed_at IS NOT NULL"
        )

    def pausing(self) -> frozenset[str]:
        """Return the generations whose tasks are asked to pause."""
        return self._ids(
            "SELECT id FROM generations WHERE supervisor_id = %s AND state = 'PAUSING'"
        )

    def _ids(self, statement: str) -> frozenset[str]:
        return frozenset(str(found) for (found,) in self._all(statement))

    def plans(self) -> dict[int, int]:
        """Return id -> term of the newest plans; older ones are dropped."""
        rows = self._all("SELECT id, term FROM plans WHERE supervisor_id = %s")
        return {int(str(number)): int(str(term)) for number, term in rows}

    def winners(self) -> dict[str, str]:
        """Return generation -> the task that published it."""
        rows = self._all("SELECT generation_id, task_id FROM publications WHERE supervisor_id = %s")
        return {str(generation): str(task) for generation, task in rows}

    def events(self, kind: str) -> list[EventRow]:
        """Return what happened of one kind, in the order of the commits."""
        rows = self._db.execute(
            "SELECT at, generation_id, task_id, detail FROM happenings"
            " WHERE supervisor_id = %s AND kind = %s ORDER BY number",
            (self._id, kind),
        ).fetchall()
        return [EventRow(_utc(at), str(g), str(task), _document(d)) for at, g, task, d in rows]

    def ends(self) -> dict[str, dict[str, int]]:
        """Return generation -> the end that its rows have, of each `topic:partition`."""
        rows = self._all(
            "SELECT generation_id, topic || ':' || partition, end_offset"
            " FROM generation_partitions WHERE supervisor_id = %s AND end_offset IS NOT NULL"
        )
        ends_by_generation: dict[str, dict[str, int]] = {}
        for generation, partition, end in rows:
            ends_by_generation.setdefault(str(generation), {})[str(partition)] = int(str(end))
        return ends_by_generation

    def live_rows(self) -> dict[str, int]:
        """Return how many tasks and generations are not over."""
        tasks = self._all(
            "SELECT count(*) FROM tasks WHERE supervisor_id = %s AND ended_at IS NULL"
        )
        generations = self._all(
            "SELECT count(*) FROM generations WHERE supervisor_id = %s AND ended_at IS NULL"
        )
        return {"tasks": int(str(tasks[0][0])), "generations": int(str(generations[0][0]))}

    def tasks(self) -> list[TaskRow]:
        """Return every task there was."""
        rows = self._all(
            "SELECT id, worker_id, status, coalesce(lost, false), reason, created_at, ended_at,"
            " coalesce(outcome, '') FROM tasks WHERE supervisor_id = %s"
        )
        return [
            TaskRow(
                id=str(task_id),
                worker_id=str(worker),
                status=str(status),
                lost=bool(lost),
                reason=str(reason),
                created_at=_utc(created),
                ended_at=None if ended is None else _utc(ended),
                outcome=str(outcome),
            )
            for task_id, worker, status, lost, reason, created, ended, outcome in rows
        ]

    def _all(self, statement: str) -> list[tuple[object, ...]]:
        return self._db.execute(statement.encode(), (self._id,)).fetchall()


def _utc(value: object) -> datetime:
    assert isinstance(value, datetime)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _document(value: object) -> dict[str, object]:
    found = json.loads(value) if isinstance(value, str) else value
    assert isinstance(found, dict)
    return found
