"""Rows that do not grow with history, or only up to a bound: as the product keeps them.

plans         the newest 200 of a supervisor      lag_samples   of the last day
happenings    the newest 100,000 of all           queues        in `queues.py`
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from bench.year.chronicle import RECORDS, TOPIC_ID, Chronicle, PastRange
from bench.year.rows import COLUMN_SET, COLUMNS, INCARNATION, Row, Rows
from bench.year.shape import COMPACTED_AFTER, PERIOD, SPEC_STORED_EVERY
from supervisor.control.reconcile import describe
from supervisor.core.history.lag import LAG_KEPT
from supervisor.core.history.lifecycle_events import (
    EventKind,
    LifecycleEvent,
    closed_detail,
    opened,
    shown_offsets,
    task_ended,
    task_started,
)
from supervisor.core.history.operations import OperationKind
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.planning.actions import BeginHandoff, FixEnd, OpenGeneration, StartTask
from supervisor.metadata.repositories.lifecycle import KEPT as EVENTS_KEPT
from supervisor.metadata.repositories.plans import KEPT as PLANS_KEPT
from supervisor.metadata.repositories.specs import RELEASE
from supervisor.metadata.schema.compaction import compaction_rules
from supervisor.metadata.schema.history import (
    audit,
    happening_counter,
    happenings,
    lag_samples,
    operations,
    plans,
    supervisor_states,
)
from supervisor.metadata.schema.tables import (
    column_sets,
    committed_offsets,
    supervisor_specs,
    workers,
)

_AUTHOR = "data-platform"
_MINUTE = timedelta(minutes=1)
_Detail = Mapping[str, JsonValue]


def standing_rows(chronicle: Chronicle) -> Rows:
    """Yield what a fleet has whatever its age: specs, offsets, workers, states, lag, columns."""
    yield (
        column_sets,
        {"id": COLUMN_SET, "columns": [{"name": c.name, "type": c.type} for c in COLUMNS]},
    )
    for number in range(chronicle.shape.workers):
        yield workers, _worker(chronicle, number)
    for supervisor, name in enumerate(chronicle.names):
        yield from _specs(chronicle, supervisor)
        for group in range(chronicle.shape.groups):
            at = chronicle.offsets(supervisor, group, chronicle.shape.ranges)
            for partition, offset in at.items():
                yield (
                    committed_offsets,
                    {
                        "supervisor_id": name,
                        "topic": partition.topic,
                        "partition": partition.partition,
                        "next_offset": offset,
                        "first_offset": 0,
                        "topic_id": TOPIC_ID,
                        "reset_epoch": 0,
                    },
                )
        yield (
            supervisor_states,
            {
                "supervisor_id": name,
                "state": "RUNNING",
                "detailed": "RUNNING",
                "why": "",
                "since": chronicle.began_at,
            },
        )
        if chronicle.shape.is_compacted(supervisor):
            yield compaction_rules, _rule(name, chronicle.began_at)


def _worker(chronicle: Chronicle, number: int) -> Row:
    shape = chronicle.shape
    return {
        "id": f"worker-{number:02d}",
        "incarnation": INCARNATION,
        "url": f"http://worker-{number:02d}.example:8091",
        "slots": 2 * -(-shape.tasks // shape.workers),
        "registered_at": chronicle.began_at,
        "disabled": None,
    }


def _rule(name: str, at: datetime) -> Row:
    return {
        "data_source": name,
        "skip_seconds": (COMPACTED_AFTER - 2) * 3600,
        "target_rows": 5_000_000,
        "target_bytes": 512 * 1024**2,
        "files_min": 2,
        "author": _AUTHOR,
        "set_at": at,
    }


def _specs(chronicle: Chronicle, supervisor: int) -> Rows:
    name = chronicle.names[supervisor]
    document = chronicle.specs[supervisor].model_dump(mode="json")
    for version in range(1, chronicle.newest_version + 1):
        number = (version - 1) * SPEC_STORED_EVERY
        at = chronicle.began_at + number * PERIOD
        yield (
            supervisor_specs,
            {
                "supervisor_id": name,
                "version": version,
                "created_at": at,
                "author": _AUTHOR,
                "spec": document,
                "release": RELEASE,
                "awake": True if version == chronicle.newest_version else None,
            },
        )
        detail = {"version": str(version)}
        yield (
            audit,
            {
                "at": at,
                "actor": _AUTHOR,
                "action": OperationKind.APPLY.value,
                "subject": name,
                "detail": detail,
                "supervisor_id": None,
            },
        )
        yield (
            operations,
            {
                "supervisor_id": name,
                "kind": OperationKind.APPLY,
                "asked_by": _AUTHOR,
                "at": at,
                "spec_version": version,
                "ranges": [],
                "disturbs": version > 1,
                "last_ordinal": number * chronicle.shape.groups,
            },
        )


def lag_rows(chronicle: Chronicle) -> Rows:
    """Yield a sample for each minute that is kept, up to the age of the fleet."""
    minutes = min(LAG_KEPT, chronicle.shape.ranges * PERIOD) // _MINUTE
    for minute in range(minutes, 0, -1):
        for name in chronicle.names:
            yield (
                lag_samples,
                {
                    "supervisor_id": name,
                    "at": chronicle.now - minute * _MINUTE,
                    "records": 25 * chronicle.shape.partition_count,
                    "millis": 1_000,
                },
            )


# -- the newest ranges -----------------------------------------------------------------------------


def plan_rows(chronicle: Chronicle) -> Rows:
    """Yield the newest plans of each supervisor, three for each range."""
    shape = chronicle.shape
    of_each = 3 * shape.groups
    first = max(0, shape.ranges - -(-PLANS_KEPT // of_each))
    for supervisor, name in enumerate(chronicle.names):
        kept = [
            (at, actions)
            for number in range(first, shape.ranges)
            for group in range(shape.groups)
            for at, actions in _plans(chronicle, chronicle.range(supervisor, group, number))
        ][-PLANS_KEPT:]
        for at, actions in kept:
            yield (
                plans,
                {
                    "supervisor_id": name,
                    "at": at,
                    "term": 1,
                    "actions": [describe(action) for action in actions],
                    "error": "",
                },
            )


_Planned = tuple[datetime, Sequence[BeginHandoff | FixEnd | StartTask]]


def _plans(chronicle: Chronicle, past: PastRange) -> Iterator[_Planned]:
    why = f"taskDuration of {PERIOD.total_seconds():g} s is over"
    replicas = range(chronicle.shape.replicas)
    yield past.paused_at, [BeginHandoff(past.id, 0, must_end=False, why=why)]
    fixed = f"{len(replicas)} replica(s) paused: {why}"
    yield past.end_fixed_at, [FixEnd(past.id, 1, past.end, None, fixed)]
    yield (
        past.end_fixed_at + timedelta(milliseconds=20),
        [
            StartTask(
                task_id=chronicle.task_id(past.supervisor, past.group, past.number + 1, replica),
                generation_id=past.id,
                replica=replica,
                attempt=1,
                worker_id=chronicle.worker(past.supervisor, past.group, replica),
                incarnation=INCARNATION,
                why="a replica is missing",
            )
            for replica in replicas
        ],
    )


def happening_rows(chronicle: Chronicle) -> Rows:
    """Yield the newest lifecycle events of all, and their counter."""
    shape = chronicle.shape
    of_range = 4 + 2 * shape.replicas
    of_hour = of_range * shape.groups * shape.supervisors
    first = max(0, shape.ranges - -(-EVENTS_KEPT // of_hour)) if of_hour else 0
    kept = [
        event
        for number in range(first, shape.ranges)
        for supervisor in range(shape.supervisors)
        for group in range(shape.groups)
        for event in _happenings(chronicle, chronicle.range(supervisor, group, number))
    ][-EVENTS_KEPT:]
    newest = shape.ranges * of_hour
    for number, event in enumerate(kept, start=newest - len(kept) + 1):
        yield (
            happenings,
            {
                "number": number,
                "at": event.at,
                "kind": event.kind,
                "supervisor_id": event.supervisor_id,
                "group_number": event.group,
                "generation_id": event.generation_id,
                "task_id": event.task_id,
                "detail": dict(event.detail),
            },
        )
    yield happening_counter, {"id": 1, "newest": newest, "trimmed": newest - len(kept)}


def _happenings(chronicle: Chronicle, past: PastRange) -> Iterator[LifecycleEvent]:
    name = chronicle.names[past.supervisor]

    def of_range(kind: EventKind, at: datetime, detail: _Detail) -> LifecycleEvent:
        return LifecycleEvent(at, kind, name, detail, group=past.group, generation_id=past.id)

    opening = opening_of(chronicle, past.supervisor, past.group, past.number)
    yield opened(opening, name, name, past.opened_at)
    ended = [_ended(chronicle, past, replica) for replica in range(len(past.task_ids))]
    for task in ended:
        yield task_started(task)
    why = f"taskDuration of {PERIOD.total_seconds():g} s is over"
    yield of_range(EventKind.GENERATION_PAUSING, past.paused_at, {"why": why})
    bounds: _Detail = {"start": shown_offsets(past.start), "end": shown_offsets(past.end)}
    yield of_range(EventKind.GENERATION_END_FIXED, past.end_fixed_at, bounds)
    published = (RECORDS * len(past.start), 0, past.task_ids[0])
    closed = closed_detail(past.start, past.end, published, "")
    yield of_range(EventKind.GENERATION_PUBLISHED, past.ended_at, closed)
    for task in ended:
        yield task_ended(task, past.ended_at)


def opening_of(chronicle: Chronicle, supervisor: int, group: int, number: int) -> OpenGeneration:
    """Return the action that opened a range."""
    shape = chronicle.shape
    name, ordinal = chronicle.names[supervisor], chronicle.ordinal(group, number)
    return OpenGeneration(
        f"{name}:{ordinal}",
        ordinal=ordinal,
        layout_version=1,
        task_count=shape.groups,
        partition_count=shape.partition_count,
        group=group,
        spec_version=min(chronicle.spec_version(number), chronicle.newest_version),
        start=chronicle.offsets(supervisor, group, number),
        why=f"group {group} of {shape.groups} goes on",
    )


def _ended(chronicle: Chronicle, past: PastRange, replica: int) -> Task:
    name = chronicle.names[past.supervisor]
    reason = "published" if replica == 0 else f"{past.task_ids[0]} published the range"
    return Task(
        id=past.task_ids[replica],
        supervisor_id=name,
        data_source=name,
        generation_id=past.id,
        replica=replica,
        attempt=1,
        worker_id=chronicle.worker(past.supervisor, past.group, replica),
        incarnation=INCARNATION,
        token="",
        status=TaskStatus.SUCCESS,
        created_at=past.opened_at,
        reason=reason,
        ended_at=past.ended_at,
    )
