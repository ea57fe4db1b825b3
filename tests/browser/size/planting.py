"""Fills a database as a fleet leaves it: a thousand supervisors, many partitions, many ranges.

Each form of row goes through the schema once; SQLite repeats the rows of ranges, with other numbers
and times, in a second.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from pydantic import JsonValue

from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.dev.ports import LOOPBACK
from supervisor.metadata.migrate import migrate
from supervisor.metadata.repositories.specs import RELEASE
from supervisor.metadata.schema.tables import (
    committed_offsets,
    generation_partitions,
    generations,
    publications,
    supervisor_specs,
    tasks,
)
from tasks.contract.messages import PublishOutcome
from tasks.contract.offsets import TopicPartition
from tests.integration.oracle import spec

__all__ = ["FLEET", "PARTITIONS", "RANGES", "SHORT", "TOPICS", "fill"]

FLEET = 1_000
"""Supervisors `fleet-0000` and so on: each tenth runs without its broker, the others rest."""
TOPICS = ("wide-a", "wide-b")
PARTITIONS = 1_000
"""Of each topic of the supervisor `wide`."""
SHORT = "t"
"""A supervisor whose name is a part of the names of all the fleet."""
RANGES = 50_000
"""Published ranges of the supervisor `long`, with a task each, of the last 20 hours."""

_NOBODY = f"{LOOPBACK}:1"
_TROUBLED_EVERY = 10
_TOPIC_ID = "mJx0Tn2XQ8SkT9y0o0bK7A"
_STEP = timedelta(hours=20) / RANGES
_Row = dict[str, object]


def fill(url: str) -> None:
    """Migrate an empty SQLite database, and put all of it in."""
    migrate(url)
    engine = sa.create_engine(url)
    now = datetime.now(UTC)
    with engine.begin() as db:
        db.execute(sa.insert(supervisor_specs), [*_specs(now - timedelta(days=2))])
        db.execute(sa.insert(committed_offsets), [*_offsets()])
        _add_ranges(db, now - timedelta(minutes=1) - RANGES * _STEP)
    engine.dispose()


def _specs(at: datetime) -> Iterator[_Row]:
    fleet = [f"fleet-{n:04d}" for n in range(FLEET)]
    troubled = {*fleet[::_TROUBLED_EVERY]}
    documents = {name: spec(_NOBODY, name, task_count=4) for name in (*fleet, "long")}
    documents |= {"wide": _spec_of_topics("wide", "wide-[ab]"), SHORT: spec(_NOBODY, SHORT)}
    for name, document in documents.items():
        read = read_spec(document).spec
        assert isinstance(read, SupervisorSpec)
        yield {
            "supervisor_id": name,
            "version": 1,
            "created_at": at,
            "author": "data-platform",
            "spec": read.model_dump(mode="json"),
            "release": RELEASE,
            "suspended": name not in troubled,
            "awake": True,
        }


def _spec_of_topics(name: str, pattern: str) -> dict[str, JsonValue]:
    document = spec(_NOBODY, name)
    inner = document["spec"]
    assert isinstance(inner, dict)
    source = inner["ioConfig"]
    assert isinstance(source, dict)
    del source["topic"]
    source["topicPattern"] = pattern
    return document


def _offsets() -> Iterator[_Row]:
    for topic in TOPICS:
        for partition in range(PARTITIONS):
            yield {
                "supervisor_id": "wide",
                "topic": topic,
                "partition": partition,
                "next_offset": 1_000 * partition,
                "first_offset": 0,
                "topic_id": _TOPIC_ID,
                "reset_epoch": 0,
            }


# -- ranges ----------------------------------------------------------------------------------------

_ID = "'long:' || (n + 1)"
_TASK_ID = "printf('index_kafka_long_%05d', n + 1)"
_START, _END = "100 * (n / 4)", "100 * (n / 4 + 1)"
_TIMES = (
    "opened_at",
    "timer_started_at",
    "paused_at",
    "end_fixed_at",
    "first_finished_at",
    "ended_at",
    "created_at",
    "folder_deleted_at",
    "published_at",
)


def _offset_at(value: str) -> str:
    return f"""'{{"long:' || (n % 4) || '": ' || ({value}) || '}}'"""


def _time_of(column: str) -> str:
    """Return a time of range n, in the form in which SQLAlchemy stores times."""
    seconds = f"'+' || (n * {_STEP.total_seconds()}) || ' seconds'"
    return f"strftime('%Y-%m-%d %H:%M:%f000', {column}, {seconds})"


_OF_RANGE = {
    "ordinal": "n + 1",
    "generation_id": _ID,
    "task_id": _TASK_ID,
    "group_number": "n % 4",
    "partition": "n % 4",
    "start_offset": _START,
    "end_offset": _END,
    "start_offsets": _offset_at(_START),
    "end_offsets": _offset_at(_END),
    "position": _offset_at(_END),
    **{column: _time_of(column) for column in _TIMES},
}
"""Column -> SQL of its value in range n, counted from 0; other columns are those of range 0."""


def _add_ranges(db: sa.Connection, at: datetime) -> None:
    """Add the oldest range, which ended at this time, and then the others in its likeness."""
    ids = {generations: _ID, tasks: _TASK_ID}
    for table, row in _oldest(at).items():
        db.execute(sa.insert(table), [row])
        values = _OF_RANGE | ({"id": ids[table]} if table in ids else {})
        columns = [f'"{column.name}"' for column in table.c]
        later = [values.get(name.strip('"'), name) for name in columns]
        db.exec_driver_sql(
            f"INSERT INTO {table.name} ({', '.join(columns)}) "  # noqa: S608 -- a test's own
            "WITH RECURSIVE later(n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM later WHERE n < {RANGES - 1}) "
            f"SELECT {', '.join(later)} FROM later, "
            f"(SELECT * FROM {table.name} WHERE supervisor_id = 'long') ORDER BY n"
        )


def _oldest(at: datetime) -> dict[sa.Table, _Row]:
    partition = TopicPartition("long", 0)
    of_long: _Row = {"supervisor_id": "long"}
    of_table: _Row = of_long | {"data_source": "long"}
    of_range: _Row = {"generation_id": "long:1"}
    offsets: _Row = {"start_offset": 0, "end_offset": 100, "open": False, "reset_epoch": 0}
    place: _Row = {"topic": partition.topic, "partition": partition.partition}
    return {
        generations: of_table | {"id": "long:1"} | _generation(at),
        generation_partitions: of_long | of_range | place | offsets,
        tasks: of_table | of_range | {"position": {partition: 100}} | _task(at),
        publications: of_table
        | of_range
        | {
            "task_id": "index_kafka_long_00001",
            "published_at": at,
            "start_offsets": {partition: 0},
            "end_offsets": {partition: 100},
            "rows": 100,
            "rejected": 0,
            "samples": [],
            "ranges": 1,
        },
    }


def _generation(ended_at: datetime) -> _Row:
    opened_at = ended_at - timedelta(seconds=20)
    return {
        "ordinal": 1,
        "layout_version": 1,
        "task_count": 4,
        "partition_count": 4,
        "group_number": 0,
        "spec_version": 1,
        "state": GenerationState.PUBLISHED,
        "opened_at": opened_at,
        "timer_started_at": opened_at,
        "sequence": 2,
        "handoff_why": "taskDuration of 20 s is over",
        "must_end": False,
        "paused_at": ended_at - timedelta(seconds=3),
        "end_fixed_at": ended_at - timedelta(seconds=2),
        "first_finished_at": ended_at - timedelta(seconds=1),
        "ended_at": ended_at,
    }


def _task(ended_at: datetime) -> _Row:
    return {
        "id": "index_kafka_long_00001",
        "replica": 0,
        "attempt": 1,
        "worker_id": "w-1",
        "incarnation": 1,
        "token": "planted",
        "status": TaskStatus.SUCCESS,
        "created_at": ended_at - timedelta(seconds=19),
        "reason": "published",
        "ended_at": ended_at,
        "taken_up": True,
        "outcome": PublishOutcome.COMMITTED,
        "published": True,
        "folder_deleted_at": ended_at,
        "lost": False,
    }
