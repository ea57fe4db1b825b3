"""The rules of initial offsets, and of automatic resets when Kafka lacks the records to read."""

from collections.abc import Iterator
from datetime import timedelta

from supervisor.core.planning.actions import CommitInitialOffsets, ResetOffsets
from supervisor.core.planning.offset_moves import NewOffsets
from supervisor.core.planning.rules.bounds import clipped, missing_partitions
from supervisor.core.planning.rules.continuity import (
    Unreadable,
    offsets_known_since,
    other_topic,
    unreadable,
)
from supervisor.core.planning.view import PassView
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.counts import counted
from tasks.contract.offsets import TopicPartition

SETTLED_AFTER = timedelta(seconds=30)
"""How long a log end below our offsets is ignored: a new partition leader may show an older one."""


def commit_initial_offsets(view: PassView) -> Iterator[CommitInitialOffsets]:
    """Store initial offsets before the first task starts, or when a new partition joins (P10)."""
    seen, spec = view.seen, view.spec
    if spec is None or not seen.stream.known:
        return
    if spec.io_config.starts is not None:
        yield from _bounded_offsets(view, spec)
        return
    partitions = {p for p in seen.stream.earliest if spec.io_config.reads(p.topic)}
    stored = {p for p in seen.committed if spec.io_config.reads(p.topic)}
    if stored:
        new = sorted(p for p in partitions - stored if _joins(view, p, stored))
        offsets = {p: seen.stream.earliest[p] for p in new}
        why = f"{counted(len(new), 'new partition')}: read from the earliest offset on"
    else:
        earliest = spec.io_config.use_earliest_offset
        source = seen.stream.earliest if earliest else seen.stream.stable
        offsets = {p: source[p] for p in sorted(partitions)}
        end = "earliest" if earliest else "latest"
        why = f"no offsets are stored: reading begins at the {end} ones"
    if offsets:
        ids = {p.topic: seen.stream.topic_ids[p.topic] for p in offsets}
        yield CommitInitialOffsets(spec.io_config.stream, ids, offsets, why)


def _bounded_offsets(view: PassView, spec: SupervisorSpec) -> Iterator[CommitInitialOffsets]:
    """Store the requested starts, also below the earliest offset: that is reported, not skipped."""
    seen, starts = view.seen, spec.io_config.starts or {}
    offsets = {p: at for p, at in sorted(starts.items()) if p not in seen.committed}
    if not offsets or missing_partitions(spec, seen) is not None:
        return
    if any(other_topic(seen, p) for p in starts):
        return
    ids = {p.topic: seen.stream.topic_ids[p.topic] for p in offsets}
    why = f"reading begins where boundedStreamConfig says, in {counted(len(offsets), 'partition')}"
    yield CommitInitialOffsets(spec.io_config.stream, ids, offsets, why)


def _joins(view: PassView, partition: TopicPartition, stored: set[TopicPartition]) -> bool:
    """Return whether a partition is new: of a new topic, or above all others of its topic."""
    same = [p for p in stored if p.topic == partition.topic]
    now = view.seen.stream.topic_ids[partition.topic]
    known = all(view.seen.committed[p].topic_id == now for p in same)
    return known and partition.partition >= len(same)


def reset_automatically(view: PassView) -> Iterator[ResetOffsets]:
    """Go on at the nearest offset that Kafka holds, if the spec asks for it (E4, E5).

    Only the affected partitions move, each once per cause, because the new offset can be read.  A
    topic that was deleted and recreated is never read without a person's decision.  A range that a
    replica still reads or publishes is left to that replica first.
    """
    seen, spec = view.seen, view.seen.current.spec
    if spec is None or not spec.tuning_config.reset_offset_automatically or not seen.stream.known:
        return
    tended = {task.generation_id for task in seen.tasks}
    busy = {p for g in seen.generations if g.id in tended for p in g.start}
    found = [u for u in unreadable(seen) if u.partition not in busy and _settled(view, u)]
    for topic in sorted({u.partition.topic for u in found}):
        mine = [u for u in found if u.partition.topic == topic]
        new = NewOffsets(
            offsets={u.partition: _nearest(view, u.partition) for u in mine},
            topic_ids={topic: seen.stream.topic_ids[topic]},
            earliest={u.partition: u.earliest for u in mine},
        )
        reasons = "; ".join(str(u) for u in mine)
        yield ResetOffsets(topic, new, f"resetOffsetAutomatically: {reasons}")


def _nearest(view: PassView, partition: TopicPartition) -> int:
    stream = view.seen.stream
    at = view.seen.committed[partition].next_offset
    nearest = max(stream.earliest[partition], min(at, stream.stable[partition]))
    spec = view.seen.current.spec
    ends = None if spec is None else spec.io_config.ends
    return clipped({partition: nearest}, ends).get(partition, nearest)


def _settled(view: PassView, unreadable: Unreadable) -> bool:
    if unreadable.lost or unreadable.generation is None:
        return True
    since = offsets_known_since(view.seen, unreadable.generation)
    read_at = view.seen.stream.read_at
    return read_at is not None and read_at >= since + SETTLED_AFTER
