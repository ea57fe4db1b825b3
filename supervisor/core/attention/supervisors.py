"""Attention rules of one supervisor: its state, its replicas, its handoffs, its bad records."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from supervisor.core.attention.items import AttentionItem, AttentionKind, Severity
from supervisor.core.attention.lag import (
    lag_rising,
    retention_passed,
    retention_risk,
    suspended_behind,
)
from supervisor.core.attention.pass_conditions import FURTHEST_MAX, PassConditions
from supervisor.core.attention.remedies import bad_record_steps, more_slots, remedies_of
from supervisor.core.attention.streams import is_only_unreachable
from supervisor.core.attention.watched import WatchedSupervisor
from supervisor.core.attention.workers import PENDING_AFTER
from supervisor.core.planning.observed import Observed
from supervisor.core.values.counts import counted, grouped
from tasks.contract.offsets import TopicPartition

HANDOFF_FLOOR = timedelta(minutes=5)
"""No handoff is late before this: until then the leader itself replaces a replica that does not
answer (pause lease 1 min, longest wait between two attempts 2 min)."""
HANDOFFS_KNOWN = 3
"""Handoffs that it takes to know what is usual; before, three times the floor is late."""
REASON_IS_NEW = timedelta(hours=1)


def supervisor_items(
    watched: WatchedSupervisor, now: datetime, free_slots: int | None
) -> Iterator[AttentionItem]:
    """Yield what of a supervisor needs somebody.

    `free_slots` None: no worker is connected, which is an item of its own.
    """
    for item in _items(watched, now, free_slots):
        yield replace(item, data_source=watched.row.newest.data_source)


def _items(
    watched: WatchedSupervisor, now: datetime, free_slots: int | None
) -> Iterator[AttentionItem]:
    yield from _unhealthy(watched)
    if watched.seen is None or watched.conditions is None:
        return
    yield from retention_passed(watched.row, watched.seen, watched.conditions)
    yield from retention_risk(watched.row, watched.seen, watched.conditions)
    if watched.row.state.healthy:  # else it is what the state says that has to be mended
        yield from lag_rising(watched.row, watched.seen, watched.conditions)
        yield from suspended_behind(watched.row, watched.seen, watched.conditions, now)
        if free_slots is not None:
            yield from _pending(watched, watched.seen, watched.conditions, now, free_slots)
    yield from _late_handoffs(watched, watched.conditions, now)
    yield from _new_reasons(watched, watched.conditions, now)


def _unhealthy(watched: WatchedSupervisor) -> Iterator[AttentionItem]:
    row, state = watched.row, watched.row.state
    if state.healthy:
        return
    if watched.seen is not None and is_only_unreachable(row, watched.seen):
        return  # one item for all supervisors of the same brokers
    word = str(state.state)
    if state.detailed != word:
        word += f" ({state.detailed})"
    yield AttentionItem(
        Severity.BROKEN,
        AttentionKind.SUPERVISOR_UNHEALTHY,
        watched.about,
        f"{row.id} is {word}: {state.why}" if state.why else f"{row.id} is {word}",
        row.since,
        () if watched.seen is None else remedies_of(watched.seen, state),
    )


def _pending(
    watched: WatchedSupervisor,
    seen: Observed,
    conditions: PassConditions,
    now: datetime,
    free_slots: int,
) -> Iterator[AttentionItem]:
    row, since = watched.row, conditions.pending_since
    replicas = row.replicas
    if since is None or replicas is None or not replicas.pending or now - since <= PENDING_AFTER:
        return
    waiting = counted(replicas.pending, "replica of it waits", "replicas of it wait")
    unread = conditions.unread
    nobody = f", so nobody reads {_few(unread)}" if unread else ""
    yield AttentionItem(
        Severity.AT_RISK if unread else Severity.TO_KNOW,
        AttentionKind.REPLICAS_PENDING,
        watched.about,
        f"{row.id} needs {grouped(replicas.wanted)} slots and has {grouped(replicas.running)}: "
        f"{waiting} for a worker{nobody}; {grouped(free_slots)} slots are free",
        since,
        more_slots(seen),
        partitions=unread[:FURTHEST_MAX],
    )


def _few(partitions: Sequence[TopicPartition]) -> str:
    """Name the first ones, and say how many more there are."""
    shown = [f"{each.topic}:{each.partition}" for each in partitions[:FURTHEST_MAX]]
    more = len(partitions) - len(shown)
    return ", ".join(shown) + (f" and {counted(more, 'more partition')}" if more else "")


def usual_time(durations: Sequence[timedelta]) -> timedelta:
    """Return the median of handoffs, the longer one of two in the middle."""
    return sorted(durations)[len(durations) // 2]


def late_after(durations: Sequence[timedelta]) -> timedelta:
    """Return the age from which a handoff is late, by how long the last ones took."""
    if len(durations) < HANDOFFS_KNOWN:
        return 3 * HANDOFF_FLOOR
    return max(HANDOFF_FLOOR, 3 * usual_time(durations))


def _late_handoffs(
    watched: WatchedSupervisor, conditions: PassConditions, now: datetime
) -> Iterator[AttentionItem]:
    limit = late_after(conditions.durations)
    late = {name: at for name, at in conditions.handoffs.items() if now - at > limit}
    if not late:
        return
    usual = "not known yet"
    if len(conditions.durations) >= HANDOFFS_KNOWN:
        usual = f"{usual_time(conditions.durations).total_seconds():,.0f} s"
    oldest = min(late, key=lambda name: (late[name], name))
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.HANDOFF_LATE,
        watched.about,
        f"{counted(len(late), 'range')} of {watched.row.id} should be published by now, the oldest "
        f"is {oldest} (usual time of a handoff: {usual})",
        late[oldest],
    )


def _new_reasons(
    watched: WatchedSupervisor, conditions: PassConditions, now: datetime
) -> Iterator[AttentionItem]:
    """Yield one item for all reasons that began within `REASON_IS_NEW`."""
    new = {
        reason: each.first_at
        for reason, each in conditions.reasons.items()
        if each.first_at is not None and now - each.first_at < REASON_IS_NEW
    }
    if not new:
        return
    words, count = ", ".join(sorted(new)), watched.row.bad_records
    records = f"; {grouped(count)} of the records that are read now are bad" if count else ""
    yield AttentionItem(
        Severity.TO_KNOW,
        AttentionKind.BAD_RECORDS_NEW,
        watched.about,
        f"{watched.row.id} gets bad records for a reason that is new: {words}{records}",
        min(new.values()),
        bad_record_steps(watched.row.id),
        watched.row.newest.data_source,
    )
