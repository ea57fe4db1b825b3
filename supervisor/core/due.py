"""When a range is due for its handoff by itself: its time is over, it has enough rows, or all.

    opened, or last resumed empty ──taskDuration, intermediateHandoffPeriod──► due
    rows of its best replica ───────────────maxTotalRows─────────────────────► due
    position of its best replica ────────boundedStreamConfig────────────────► due

Nothing is counted here: a replica reports the rows of its journal, so a worker that went on from
it, and a new leader, go by the same number.

Source: Druid's docs on maxTotalRows and intermediateHandoffPeriod; druid-supervisor.md section 7.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from supervisor.core.handoff import ReplicaView
from supervisor.core.milestone import Milestone, rows_of
from supervisor.core.model import Generation
from supervisor.core.observed import Liveness
from supervisor.core.spec import SupervisorSpec
from tasks.contract import TaskPhase, TaskReport

_READS = frozenset({TaskPhase.READING, TaskPhase.PAUSED})
_SKEW = 0.1
"""Of a period: so much later than its overlords' clocks differ a handoff may be."""


def due_at(generation: Generation, spec: SupervisorSpec) -> datetime:
    """Return when a range is due whatever it holds; `spec` is the one whose periods hold."""
    return generation.timer_started_at + min(_periods(spec).values())


def why_over(generation: Generation, spec: SupervisorSpec, now: datetime) -> str | None:
    """Say which period of a range is over; None: none is."""
    periods = _periods(spec)
    ahead = generation.timer_started_at - now
    if ahead > _SKEW * min(periods.values()):
        # Its leader's clock was ahead of ours: waited for, it would be late by all of that.
        return f"its period begins {ahead.total_seconds():.1f} s after this overlord's time"
    if now < due_at(generation, spec):
        return None
    name = min(periods, key=lambda name: periods[name])
    return f"{name} of {periods[name].total_seconds():g} s is over"


def _periods(spec: SupervisorSpec) -> dict[str, timedelta]:
    """By name; of two that are equal the first one counts."""
    between = spec.tuning_config.intermediate_handoff_period
    return {"taskDuration": spec.io_config.task_duration} | (
        {} if between is None else {"intermediateHandoffPeriod": between}
    )


def why_full(replicas: Sequence[ReplicaView], spec: SupervisorSpec) -> str | None:
    """Say that a range has as many rows as it may get; None: it has fewer.

    The most that any replica reports count: all read the same records.
    """
    most = spec.tuning_config.max_total_rows
    rows = max((rows_of(report.counters) for report in _reading(replicas)), default=0)
    return None if rows < most else f"maxTotalRows of {most} is reached: {rows} rows are read"


def why_read_out(replicas: Sequence[ReplicaView], spec: SupervisorSpec) -> str | None:
    """Say that a replica stands at the end of all that is asked for; None: none does."""
    ends = spec.io_config.ends
    if ends is None:
        return None
    told = "all of its part of boundedStreamConfig is read"
    done = (all(at >= ends.get(p, at) for p, at in r.position.items()) for r in _reading(replicas))
    return told if any(done) else None


def milestone(generation: Generation, spec: SupervisorSpec) -> Milestone:
    """Return what makes a range due that is neither full nor read out."""
    ends = spec.io_config.ends
    end = None if ends is None else {p: ends[p] for p in generation.start if p in ends}
    return Milestone(spec.tuning_config.max_total_rows, end)


def _reading(replicas: Sequence[ReplicaView]) -> Iterator[TaskReport]:
    for replica in replicas:
        report = replica.report
        if report is not None and report.phase in _READS and replica.liveness is not Liveness.LOST:
            yield report
