"""Small worlds made by hand for the tests of the checkers: tables in SQLite, records, workers."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import TopicPartition
from tasks.machine.machine import begin
from tasks.machine.pacing import Limits
from tasks.machine.state import TaskState
from tests.simulation.checkers.ledger import Ledger
from tests.tasks.memory import desired

AT = "2026-01-05 12:00:00.000000"
LATER = "2026-01-05 12:10:00.000000"
SUP, TOPIC = "clicks", "clicks"
P0 = TopicPartition(TOPIC, 0)
CANARY = "canary-of-the-test"
_WHERE = {"supervisor_id": SUP, "topic": TOPIC, "partition": 0}


@dataclass
class Handmade:
    """What is in Kafka and on disk; it plays both."""

    log: dict[tuple[str, int], list[tuple[int, int | None, str]]] = field(default_factory=dict)
    lost: dict[tuple[str, int], int] = field(default_factory=dict)
    """Of a partition: what Kafka holds begins there."""
    unsynced: set[str] = field(default_factory=set)
    """Files that a power loss would take."""
    removals: int = 0
    files: dict[str, list[tuple[TopicPartition, int, int | None]]] = field(default_factory=dict)

    def records(
        self, topic: str, partition: int, topic_id: str
    ) -> list[tuple[int, int | None, str]]:
        del topic
        return self.log.get((topic_id, partition), [])

    def holds(self, topic: str, partition: int, topic_id: str, offset: int) -> bool:
        del topic
        first = self.lost.get((topic_id, partition), 0)
        return first <= offset <= len(self.log.get((topic_id, partition), []))

    def durable(self, path: str) -> bool:
        return path in self.files and path not in self.unsynced

    def rows(self, path: str) -> list[tuple[TopicPartition, int, int | None]] | None:
        return self.files.get(path)


class HandmadeVersion(NamedTuple):
    """One version of an exported table."""

    at: float
    sequence: int
    term: int
    files: Mapping[str, int]


@dataclass
class HandmadeTables:
    """The life of tables: nothing of it, unless a test says so."""

    runs: bool = False
    grace_s: float = 0.0
    versions: dict[tuple[str, str], list[HandmadeVersion]] = field(default_factory=dict)

    def exported(self) -> Mapping[tuple[str, str], list[HandmadeVersion]]:
        return self.versions


@dataclass
class Clock:
    """Seconds that the test sets."""

    at: float = 0.0

    def monotonic(self) -> float:
        return self.at


@dataclass
class Held:
    """A task on a worker."""

    state: TaskState


@dataclass
class Worker:
    """One process."""

    id: str = "w1"
    incarnation: int = 1
    alive: bool = True
    frozen: bool = False
    tasks: dict[str, Held] = field(default_factory=dict)
    journals: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Happening:
    """One line of the log."""

    kind: str
    detail: Mapping[str, object]


class Broken:
    """A world at rest: ten records, and a generation that reads them from the first on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.store_connection = connection
        self.ledger = Ledger()
        self.kafka = self.warehouse = Handmade()
        self.tables = HandmadeTables()
        self.clock = Clock()
        self.workers = [Worker()]
        self.log: list[Happening] = []
        self.secrets = (CANARY,)
        self.held_back: set[str] = set()
        self.kafka.log["id-1", 0] = [(at, 100 + at, "data") for at in range(10)]
        self.insert("leader_term", id=1, term=1, holder="me", url="http://me")
        self.insert(
            "supervisor_specs", supervisor_id=SUP, version=1, created_at=AT, author="u", spec="{}"
        )
        self.insert(
            "committed_offsets",
            **_WHERE,
            next_offset=0,
            first_offset=0,
            topic_id="id-1",
            reset_epoch=0,
        )
        address = "http://w1"
        self.insert("workers", id="w1", incarnation=1, url=address, slots=4, registered_at=AT)
        self.generation("g1", 1)
        self.task("t1", "g1")

    def sql(self, statement: str, *values: object) -> None:
        """Change a row behind everybody's back."""
        self.store_connection.execute(statement, values)

    def insert(self, table: str, **values: object) -> None:
        """Add a row."""
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        self.sql(f"INSERT INTO {table} ({names}) VALUES ({marks})", *values.values())  # noqa: S608 -- words of the tests

    def generation(
        self, name: str, ordinal: int, start: int = 0, end: int | None = None, epoch: int = 0
    ) -> None:
        """Add a generation: READING, or PUBLISHING if it has an end."""
        self.insert(
            "generations",
            id=name,
            supervisor_id=SUP,
            data_source=SUP,
            ordinal=ordinal,
            layout_version=1,
            task_count=1,
            partition_count=1,
            group_number=0,
            spec_version=1,
            state="READING" if end is None else "PUBLISHING",
            opened_at=AT,
            timer_started_at=AT,
            sequence=0,
            handoff_why="",
            must_end=0,
            end_fixed_at=None if end is None else AT,
        )
        self.insert(
            "generation_partitions",
            **_WHERE,
            generation_id=name,
            start_offset=start,
            end_offset=end,
            open=end is None,
            reset_epoch=epoch,
        )

    def task(self, name: str, generation: str, replica: int = 0) -> None:
        """Add an active task."""
        self.insert(
            "tasks",
            id=name,
            supervisor_id=SUP,
            data_source=SUP,
            generation_id=generation,
            replica=replica,
            attempt=1,
            worker_id="w1",
            incarnation=1,
            token=f"token-of-{name}",
            status="RUNNING",
            created_at=AT,
            reason="",
            taken_up=0,
            published=0,
        )

    def fix_end(self, name: str, end: int) -> None:
        """READING -> PUBLISHING."""
        self.sql(
            "UPDATE generations SET state='PUBLISHING', sequence=sequence+2, end_fixed_at=?"
            " WHERE id=?",
            *(AT, name),
        )
        self.sql(
            "UPDATE generation_partitions SET end_offset=?, open=0 WHERE generation_id=?", end, name
        )

    def publish(self, name: str, task: str, start: int, end: int) -> None:
        """Publish a range rightly: offsets, segment, outcome, states."""
        offsets = [json.dumps({str(P0): at}) for at in (start, end)]
        rows = [(P0, at, 100 + at) for at in range(start, end)]
        path = f"{SUP}/data/{task}/1.parquet"
        self.warehouse.files[path] = list(rows)
        self.sql("UPDATE committed_offsets SET next_offset=?", end)
        self.insert(
            "publications",
            generation_id=name,
            supervisor_id=SUP,
            data_source=SUP,
            task_id=task,
            published_at=LATER,
            start_offsets=offsets[0],
            end_offsets=offsets[1],
            rows=len(rows),
            rejected=0,
            samples="[]",
        )
        self.insert(
            "segments",
            id=f"{task}/0",
            data_source=SUP,
            supervisor_id=SUP,
            generation_id=name,
            task_id=task,
            published_at=LATER,
            path=path,
            interval_start=AT,
            interval_end=LATER,
            rows=len(rows),
            size_bytes=1,
            sha256="d",
            time_min=AT,
            time_max=AT,
        )
        self.sql(
            "UPDATE tasks SET status='SUCCESS', outcome='committed', published=1, ended_at=?"
            " WHERE id=?",
            *(LATER, task),
        )
        self.sql("UPDATE generations SET state='PUBLISHED', ended_at=? WHERE id=?", LATER, name)

    def reset(self, to: int) -> None:
        """Reset rightly, from offset 0: every range is discarded, what is skipped is declared."""
        self.insert("audit", at=LATER, actor="u", action="reset", subject=SUP, detail="{}")
        self.sql("UPDATE generations SET state='DISCARDED', ended_at=?", LATER)
        self.sql("UPDATE generation_partitions SET open=0")
        self.sql("UPDATE tasks SET status='FAILED', ended_at=?", LATER)
        self.sql("UPDATE committed_offsets SET reset_epoch=1, next_offset=?", to)
        declared = {"author": "u", "why": "", "at": LATER}
        self.insert("offset_gaps", **_WHERE, **declared, first=0, end=to, kind="skipped")

    def hold(self, task: str, phase: TaskPhase = TaskPhase.READING) -> TaskState:
        """Let the worker run a task of partition 0."""
        wanted = desired().model_copy(update={"task_id": task, "start": {P0: 0}})
        state, _ = begin(wanted, 1, None, Limits(), 0.0)
        self.workers[0].tasks[task] = Held(state)
        self.put(task, phase=phase)
        return self.workers[0].tasks[task].state

    def put(self, task: str, **changes: object) -> None:
        """Set fields of a task's state."""
        held = self.workers[0].tasks[task]
        for name, value in changes.items():
            values = {f: getattr(held.state, f) for f in held.state.__dataclass_fields__}
            held.state = TaskState(**{**values, name: value})

    def happened(self, kind: str, **detail: object) -> None:
        """Write the log."""
        self.log.append(Happening(kind, detail))
