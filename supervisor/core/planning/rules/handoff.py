"""The handoff protocol: the next step, from the stored row and the replicas' reports alone.

    due ─► BeginHandoff ─► all paused? ─► FixEnd (with the successor) ─► publishing
                │               │  └─ nothing read: ResumeReading, or CloseEmpty if it must end
                │               └─ half a pause lease gone: BeginHandoff again (P13)
                └─ a replica that does not pause in time is ended; the others go on

A pause that nobody looked after for half its lease is ordered again: what could not be told to
the replicas is not held against them.  So is one that was ordered by a clock ahead of ours: how
much of its lease is gone, nobody can say.

The end is on record before any replica hears it: after a crash between two replicas the second
is told the same end, never a newer one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    EndTask,
    FixEnd,
    OpenGeneration,
    ResumeReading,
)
from supervisor.core.planning.observed import Liveness, PlanLimits
from supervisor.core.values.clock_skew import is_ahead, is_over
from supervisor.core.values.counts import counted, in_seconds
from tasks.contract.messages import TaskPhase, TaskReport
from tasks.contract.offsets import furthest, is_empty


@dataclass(frozen=True)
class ReplicaView:
    """An active task of a generation, with the last report of its worker."""

    task: Task
    liveness: Liveness
    report: TaskReport | None


@dataclass(frozen=True)
class HandoffStep:
    """Actions that are due now, and when to look again if none is."""

    actions: tuple[Action, ...] = ()
    wake_at: datetime | None = None


def paused(generation: Generation, replica: ReplicaView) -> bool:
    """Return whether a replica has paused for the present pause, not for an earlier one."""
    report = replica.report
    return (
        report is not None
        and report.phase is TaskPhase.PAUSED
        and report.order_sequence == generation.sequence
    )


def next_step(
    generation: Generation,
    replicas: Sequence[ReplicaView],
    successor: OpenGeneration | None,
    now: datetime,
    limits: PlanLimits,
) -> HandoffStep:
    """Return the next step of a generation in PAUSING.

    `successor` is the next generation of the group, without its start; None: the group ends here.
    """
    stopped = [r for r in replicas if paused(generation, r)]
    slow = [r for r in replicas if not paused(generation, r)]
    since = generation.paused_at or now
    lapsed = _lapsed(since, now, limits)
    if slow and lapsed is None and now < since + limits.pause_timeout:
        return HandoffStep(wake_at=since + limits.pause_timeout)
    alive = any(r.liveness is Liveness.ALIVE for r in replicas)
    if lapsed is not None and (stopped or alive):
        # Who is slow by now was not judged in time: no leader was there to tell it, nor to end it.
        why = f"{lapsed}: it is repeated before the end of the range is set"
        must_end = generation.must_end
        again = BeginHandoff(generation.id, generation.sequence, must_end=must_end, why=why)
        return HandoffStep((again,))
    # Unknown is not lost (P6): a worker that is silent keeps its task; having read further than
    # the end, it will drop what lies beyond (P14).
    ended = tuple(
        EndTask(
            r.task.id,
            succeeded=False,
            why=f"did not pause within {in_seconds(limits.pause_timeout)}",
        )
        for r in slow
        if r.liveness is Liveness.ALIVE
    )
    if not stopped:
        return HandoffStep(ended or _nobody(generation, replicas))
    return HandoffStep((*ended, _fix(generation, stopped, successor)))


def _lapsed(since: datetime, now: datetime, limits: PlanLimits) -> str | None:
    """Say why a pause may not be trusted any more; None: it may."""
    half = limits.pause_lease / 2
    if is_ahead(since, half, now):
        ahead_s = (since - now).total_seconds()
        return f"by this overlord's clock the order to pause is of {ahead_s:.1f} s in the future"
    return "the order to pause soon ends" if is_over(since, half, now) else None


def _nobody(generation: Generation, replicas: Sequence[ReplicaView]) -> tuple[Action, ...]:
    if replicas:
        return ()  # all replicas are silent: they report again, or they will count as lost
    if generation.must_end:
        why = "no task of it runs any more and its group ends: what it read is not published"
        return (CloseEmpty(generation.id, generation.sequence, why),)
    why = "no task of it runs any more: a new one reads on"
    return (ResumeReading(generation.id, generation.sequence, restart_timer=False, why=why),)


def _fix(
    generation: Generation, stopped: Sequence[ReplicaView], successor: OpenGeneration | None
) -> Action:
    end = furthest([r.report.position for r in stopped if r.report is not None])
    if not is_empty(generation.start, end):
        follows = None if successor is None else replace(successor, start=end)
        why = f"{counted(len(stopped), 'replica')} paused: {generation.handoff_why}"
        return FixEnd(generation.id, generation.sequence, end, follows, why)
    if generation.must_end:
        return CloseEmpty(generation.id, generation.sequence, "it read nothing and has to end")
    return ResumeReading(
        generation.id,
        generation.sequence,
        restart_timer=True,
        why="nothing was read: its time begins anew",
    )
