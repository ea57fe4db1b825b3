"""Bounded supervisors, which read fixed ranges once: what is left, and why it cannot be read.

    start ──────── committed ──────── end          COMPLETED once all partitions stand at their end
    ▲ stored before the first task     ▲ no task reads further; exclusive

If stored offsets lie outside of their range, nothing is read: neither a gap nor a silent end would
be what the user wants.  This happens if another range was read under the same id before.
"""

from collections.abc import Mapping

from supervisor.core.model.rows import CommittedOffset
from supervisor.core.planning.observed import Observed
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import Offsets, TopicPartition


def missing_partitions(spec: SupervisorSpec, seen: Observed) -> str | None:
    """Describe requested partitions that the topic does not have; None: none, or not known."""
    ends = spec.io_config.ends
    if ends is None or not seen.stream.known:
        return None
    absent = sorted(p for p in ends if p not in seen.stream.earliest and p not in seen.committed)
    if not absent:
        return None
    there = ", ".join(str(p.partition) for p in sorted(seen.stream.earliest)) or "none"
    return (
        f"boundedStreamConfig names partition {', '.join(str(p.partition) for p in absent)}, which "
        f"topic {spec.io_config.topic} does not have; it has {there}: correct the spec"
    )


def mismatched(spec: SupervisorSpec, rows: Mapping[TopicPartition, CommittedOffset]) -> str | None:
    """Describe stored offsets outside of the requested range; None: there are none."""
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None:
        return None
    mismatches = [
        f"{p} stands at {rows[p].next_offset}, its range is {starts[p]} to {end}"
        for p, end in sorted(ends.items())
        if p in rows and not starts[p] <= rows[p].next_offset <= end
    ]
    if not mismatches:
        return None
    return (
        f"{'; '.join(mismatches)}: another range was read under this id before; `reset` begins "
        "again at the start, another id reads it beside"
    )


def is_completed(spec: SupervisorSpec, rows: Mapping[TopicPartition, CommittedOffset]) -> bool:
    """Return whether all requested records are published."""
    ends = spec.io_config.ends
    if ends is None or mismatched(spec, rows) is not None:
        return False
    return all(p in rows and rows[p].next_offset == end for p, end in ends.items())


def records_of(spec: SupervisorSpec) -> int | None:
    """Return the number of records in the requested ranges; None: the stream is read for ever."""
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None:
        return None
    return sum(end - starts[p] for p, end in ends.items())


def records_left(
    spec: SupervisorSpec, rows: Mapping[TopicPartition, CommittedOffset]
) -> int | None:
    """Return how many requested records are not published; None: it is read for ever."""
    starts, ends = spec.io_config.starts, spec.io_config.ends
    if starts is None or ends is None:
        return None
    reached = {p: rows[p].next_offset if p in rows else starts[p] for p in ends}
    return sum(min(max(end - reached[p], 0), end - starts[p]) for p, end in ends.items())


def clipped(offsets: Offsets, ends: Offsets | None) -> dict[TopicPartition, int]:
    """Return offsets capped at the ends, without partitions that are not requested."""
    if ends is None:
        return dict(offsets)
    return {p: min(at, ends[p]) for p, at in offsets.items() if p in ends}
