"""When a range is due for its handoff by itself: its time is over, it has enough rows, or all.

    opened, or last resumed empty ──taskDuration, intermediateHandoffPeriod──► due
    rows of its best replica ───────────────maxTotalRows─────────────────────► due
    rows of its fullest time chunk ─────────maxRowsPerSegment────────────────► due
    position of its best replica ────────boundedStreamConfig────────────────► due

A range with an `earlyMessageRejectionPeriod` throws away what is later than its own time and that
period, and all its replicas have to do it alike: so it cannot go on behind its time, nor be read
from its start again. Whatever `stopTaskCount` says, it is due for good halfway there.

Nothing is counted here: a replica reports the rows of its journal, so a worker that went on from
it, and a new leader, go by the same number.

Source: Druid's docs on maxTotalRows, maxRowsPerSegment and intermediateHandoffPeriod;
AppenderatorDriverAddResult.isPushRequired: rows of a segment, or of all of them, are at the limit.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from supervisor.core.model.rows import Generation
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.rules.handoff import ReplicaView
from supervisor.core.planning.wake_condition import WakeCondition, rows_of
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.clock_skew import is_ahead, is_over
from supervisor.core.values.counts import grouped, in_seconds
from tasks.contract.messages import TaskPhase, TaskReport

_READS = frozenset({TaskPhase.READING, TaskPhase.PAUSED})


def handoff_due_at(generation: Generation, spec: SupervisorSpec) -> datetime:
    """Return when a range is due whatever it holds; `spec` is the one whose periods hold."""
    at = generation.timer_started_at + min(_periods(spec).values())
    if spec.io_config.early_message_rejection_period is None:
        return at
    # Rows are judged from its opening on: an empty range that was resumed gets no more time.
    return min(at, generation.opened_at + spec.io_config.task_duration)


def latest_at(generation: Generation, spec: SupervisorSpec) -> datetime | None:
    """Return when a range is handed off even if `stopTaskCount` others are; None: it may wait.

    The other half of the period is left for the pause: current rows are never too early.
    """
    early = spec.io_config.early_message_rejection_period
    return None if early is None else handoff_due_at(generation, spec) + early / 2


def why_over(generation: Generation, spec: SupervisorSpec, now: datetime) -> str | None:
    """Say which period of a range is over; None: none is."""
    periods, began = _periods(spec), generation.timer_started_at
    name = min(periods, key=lambda name: periods[name])
    if now < handoff_due_at(generation, spec) and not is_over(began, periods[name], now):
        return None
    if is_ahead(began, periods[name], now):
        ahead_s = (began - now).total_seconds()
        return f"its period begins {ahead_s:.1f} s in the future, by this overlord's clock"
    return f"{name} of {in_seconds(periods[name])} is over"


def _periods(spec: SupervisorSpec) -> dict[str, timedelta]:
    """By name; of two that are equal the first one counts."""
    between = spec.tuning_config.intermediate_handoff_period
    return {"taskDuration": spec.io_config.task_duration} | (
        {} if between is None else {"intermediateHandoffPeriod": between}
    )


def why_full(replicas: Sequence[ReplicaView], spec: SupervisorSpec) -> str | None:
    """Say that a range, or one time chunk of it, has as many rows as it may get; else None.

    The most that any replica reports count: all read the same records.
    """
    tuning, reports = spec.tuning_config, list(_reading(replicas))
    most = tuning.max_total_rows
    rows = max((rows_of(report.counters) for report in reports), default=0)
    if rows >= most:
        return f"maxTotalRows of {grouped(most)} is reached: {grouped(rows)} rows are read"
    most = tuning.max_rows_per_segment
    rows = max((report.fullest_chunk_rows for report in reports), default=0)
    if rows >= most:
        return (
            f"maxRowsPerSegment of {grouped(most)} is reached: {grouped(rows)} rows of one time "
            "chunk are read"
        )
    return None


def why_read_out(replicas: Sequence[ReplicaView], spec: SupervisorSpec) -> str | None:
    """Say that a replica stands at the end of all that is asked for; None: none does."""
    ends = spec.io_config.ends
    if ends is None:
        return None
    reason = "all that boundedStreamConfig asks of this group is read"
    done = (all(at >= ends.get(p, at) for p, at in r.position.items()) for r in _reading(replicas))
    return reason if any(done) else None


def milestone(generation: Generation, spec: SupervisorSpec) -> WakeCondition:
    """Return what makes a range due that is neither full nor read out."""
    ends = spec.io_config.ends
    end = None if ends is None else {p: ends[p] for p in generation.start if p in ends}
    tuning = spec.tuning_config
    return WakeCondition(tuning.max_total_rows, tuning.max_rows_per_segment, end)


def _reading(replicas: Sequence[ReplicaView]) -> Iterator[TaskReport]:
    for replica in replicas:
        report = replica.report
        if report is not None and report.phase in _READS and replica.liveness is not Liveness.LOST:
            yield report
