"""Lifecycle events of supervisors: a durable, numbered list of facts that clients follow.

An event is written in the transaction of the change that it describes.  Events are numbered in the
order of commits, so a client that has read up to a number misses no later event.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import JsonValue

from supervisor.core.model.rows import Generation, GenerationState, OffsetGap, SpecVersion, Task
from supervisor.core.planning.actions import OpenGeneration
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.permissions import reason_of
from tasks.contract.offsets import Offsets

SCHEMA = 1
"""Version of an event's members; it grows when a member is removed or changes its meaning."""


class EventKind(StrEnum):
    """What can happen; the words are those of the clients."""

    SUPERVISOR_CREATED = "supervisor-created"
    SPEC_STORED = "spec-stored"
    SUPERVISOR_SUSPENDED = "supervisor-suspended"
    SUPERVISOR_RESUMED = "supervisor-resumed"
    SUPERVISOR_TERMINATED = "supervisor-terminated"
    STATE_CHANGED = "state-changed"
    STREAM_SILENT = "stream-silent"
    STREAM_ANSWERS = "stream-answers"
    OFFSETS_INITIALISED = "offsets-initialised"
    OFFSETS_RESET = "offsets-reset"
    GAP_DECLARED = "gap-declared"
    HANDOFF_REQUESTED = "handoff-asked"
    GENERATION_OPENED = "generation-opened"
    GENERATION_PAUSING = "generation-pausing"
    GENERATION_RESUMED = "generation-resumed"
    GENERATION_END_FIXED = "generation-end-fixed"
    GENERATION_PUBLISHED = "generation-published"
    GENERATION_EMPTY = "generation-empty"
    GENERATION_DISCARDED = "generation-discarded"
    REPLICAS_DIVERGED = "replicas-diverged"
    TASK_STARTED = "task-started"
    TASK_ENDED = "task-ended"
    COMPACTION_BEGUN = "compaction-begun"
    COMPACTION_ENDED = "compaction-ended"
    UNKNOWN = "unknown"
    """The kind of an event that only a newer release knows; read, but never written."""


LASTING = frozenset(
    {
        EventKind.SUPERVISOR_CREATED,
        EventKind.SPEC_STORED,
        EventKind.SUPERVISOR_SUSPENDED,
        EventKind.SUPERVISOR_RESUMED,
        EventKind.SUPERVISOR_TERMINATED,
        EventKind.STATE_CHANGED,
        EventKind.OFFSETS_INITIALISED,
        EventKind.OFFSETS_RESET,
        EventKind.GAP_DECLARED,
    }
)
"""Kinds that are kept longer: rare ones, about the supervisor and not about one of its ranges.

What happens at each handoff has rows of its own (ranges, tasks, publications), which are kept.
"""

CLOSED_AS: Mapping[GenerationState, EventKind] = {
    GenerationState.EMPTY: EventKind.GENERATION_EMPTY,
    GenerationState.DISCARDED: EventKind.GENERATION_DISCARDED,
    GenerationState.PUBLISHED: EventKind.GENERATION_PUBLISHED,
}


@dataclass(frozen=True)
class LifecycleEvent:
    """One lifecycle event; `detail` has the members of its kind, named as on the wire."""

    at: datetime
    kind: EventKind
    supervisor_id: str
    detail: Mapping[str, JsonValue] = field(default_factory=dict)
    group: int | None = None
    """Task group of the generation or task; the store fills it in where it is left out."""
    generation_id: str | None = None
    task_id: str | None = None
    data_source: str | None = field(default=None, compare=False)
    """The table, for the log line of the process that commits the event; it is not stored."""


@dataclass(frozen=True)
class NumberedEvent:
    """A lifecycle event with its number: 1, 2, 3, ... without a hole, in the order of commits."""

    number: int
    happening: LifecycleEvent


def _spec_kind(*, before: bool, was_suspended: bool, ends: bool, suspended: bool) -> EventKind:
    if ends:
        return EventKind.SUPERVISOR_TERMINATED
    if not before:
        return EventKind.SUPERVISOR_CREATED
    if was_suspended == suspended:
        return EventKind.SPEC_STORED
    if suspended:
        return EventKind.SUPERVISOR_SUSPENDED
    return EventKind.SUPERVISOR_RESUMED


def spec_event(stored: SpecVersion, *, before: bool, was_suspended: bool) -> LifecycleEvent:
    """Return the event of a new spec version; `before`: the supervisor had a live version."""
    kind = _spec_kind(
        before=before,
        was_suspended=was_suspended,
        ends=stored.spec is None,
        suspended=stored.spec is not None and stored.spec.suspended,
    )
    detail: dict[str, JsonValue] = {"version": stored.version, **by_author(stored.author)}
    table = None if stored.spec is None else stored.spec.data_source
    return LifecycleEvent(stored.created_at, kind, stored.supervisor_id, detail, data_source=table)


def by_author(author: str) -> dict[str, JsonValue]:
    """Return the members about who asked for a change, and why if a reason was given."""
    reason = reason_of(author)
    members: dict[str, JsonValue] = {"author": str(author)}
    return members if reason is None else members | {"reason": reason}


def shown_offsets(offsets: Offsets) -> dict[str, JsonValue]:
    """Return offsets as `{"topic:0": 17}`."""
    return {str(p): offsets[p] for p in sorted(offsets)}


def gap_event(gap: OffsetGap) -> LifecycleEvent:
    """Return the event of a declared gap."""
    detail: dict[str, JsonValue] = {
        "partition": str(gap.partition),
        "from": gap.first,
        "to": gap.end,
        "kind": gap.kind.value,
        **by_author(gap.author),
        "why": gap.why,
    }
    return LifecycleEvent(gap.at, EventKind.GAP_DECLARED, gap.supervisor_id, detail)


def generation_event(
    generation: Generation, kind: EventKind, at: datetime, **detail: JsonValue
) -> LifecycleEvent:
    """Return an event of the given kind about a generation."""
    return LifecycleEvent(
        at,
        kind,
        generation.supervisor_id,
        detail,
        group=generation.group,
        generation_id=generation.id,
        data_source=generation.data_source,
    )


def opened(
    action: OpenGeneration, supervisor_id: str, data_source: str, now: datetime
) -> LifecycleEvent:
    """Return the event of a generation that opens."""
    detail: dict[str, JsonValue] = {
        "start": shown_offsets(action.start),
        "specVersion": action.spec_version,
        "ordinal": action.ordinal,
        "why": action.why,
    }
    kind = EventKind.GENERATION_OPENED
    return LifecycleEvent(
        now,
        kind,
        supervisor_id,
        detail,
        group=action.group,
        generation_id=action.generation_id,
        data_source=data_source,
    )


def closed_detail(
    start: Offsets,
    end: Offsets | None,
    publication: tuple[int, int, str] | None,
    why: str,
) -> dict[str, JsonValue]:
    """Return the detail of a generation that ends; `publication`: rows, rejected, task id."""
    detail: dict[str, JsonValue] = {
        "start": shown_offsets(start),
        "end": None if end is None else shown_offsets(end),
    }
    if publication is not None:
        rows, rejected, task_id = publication
        detail |= {"rows": rows, "rejected": rejected, "publishedBy": task_id}
    return detail | ({"why": why} if why else {})


def task_started(task: Task) -> LifecycleEvent:
    """Return the event of a task that is assigned."""
    detail: dict[str, JsonValue] = {
        "replica": task.replica,
        "attempt": task.attempt,
        "worker": task.worker_id,
    }
    return _of_task(task, EventKind.TASK_STARTED, task.created_at, detail)


def task_ended(task: Task, now: datetime) -> LifecycleEvent:
    """Return the event of a task that ends."""
    detail: dict[str, JsonValue] = {
        "status": task.status.value,
        "reason": task.reason,
        "lost": task.lost,
        "ranMillis": max(0, (now - task.created_at) // timedelta(milliseconds=1)),
        "replica": task.replica,
        "attempt": task.attempt,
        "worker": task.worker_id,
    }
    return _of_task(task, EventKind.TASK_ENDED, now, detail)


def _of_task(
    task: Task, kind: EventKind, at: datetime, detail: Mapping[str, JsonValue]
) -> LifecycleEvent:
    return LifecycleEvent(
        at,
        kind,
        task.supervisor_id,
        detail,
        generation_id=task.generation_id,
        task_id=task.id,
        data_source=task.data_source,
    )


def compaction_begun(compaction: Compaction, now: datetime) -> LifecycleEvent:
    """Return the event of a compaction that is assigned to a worker."""
    return _of_compaction(
        compaction, EventKind.COMPACTION_BEGUN, now, {"worker": compaction.worker_id}
    )


def compaction_ended(compaction: Compaction, now: datetime) -> LifecycleEvent:
    """Return the event of a compaction that ends, also of one that never began."""
    more: dict[str, JsonValue] = {"status": compaction.status.value, "reason": compaction.detail}
    return _of_compaction(compaction, EventKind.COMPACTION_ENDED, now, more)


def _of_compaction(
    compaction: Compaction, kind: EventKind, at: datetime, more: Mapping[str, JsonValue]
) -> LifecycleEvent:
    detail: dict[str, JsonValue] = {
        "compaction": compaction.id,
        "dataSource": compaction.data_source,
        "files": len(compaction.inputs),
    }
    full_detail, table = detail | dict(more), compaction.data_source
    return LifecycleEvent(at, kind, compaction.supervisor_id, full_detail, data_source=table)
