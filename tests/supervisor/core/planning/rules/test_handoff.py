"""One step of a handoff: a table of what the replicas say."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.core.model.rows import Generation
from supervisor.core.planning.actions import (
    BeginHandoff,
    CloseEmpty,
    EndTask,
    FixEnd,
    ResumeReading,
)
from supervisor.core.planning.observed import Liveness, PlanLimits
from supervisor.core.planning.rules.handoff import HandoffStep, ReplicaView, next_step
from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import Offsets, OffsetsError
from tests.supervisor.core.snapshots import EVEN, NOON, part, pausing, report, task

AT = {part(0): 9, part(2): 4}
SECOND = timedelta(seconds=1)
PAUSED_AT = NOON


def replica(
    number: int,
    phase: TaskPhase | None = TaskPhase.PAUSED,
    position: Offsets = AT,
    *,
    sequence: int = 1,
    liveness: Liveness = Liveness.ALIVE,
) -> ReplicaView:
    """A replica as the leader sees it; no phase: it has not reported yet."""
    of = task(pausing(), number)
    last_report = None if phase is None else report(of, position, phase, sequence=sequence)
    return ReplicaView(of, liveness, last_report)


def step(
    replicas: Sequence[ReplicaView], after_s: float, generation: Generation | None = None
) -> HandoffStep:
    """Look `after_s` seconds after the pause was ordered."""
    now = PAUSED_AT + after_s * SECOND
    return next_step(generation or pausing(at=0), replicas, None, now, PlanLimits())


READS = replica(1, TaskPhase.READING, sequence=0)
TABLE = {
    "all paused": ([replica(0), replica(1)], 0, [FixEnd]),
    "all paused, just in time": ([replica(0)], 29.9, [FixEnd]),
    "all paused, half a lease ago": ([replica(0)], 30, [BeginHandoff]),
    "one reads": ([replica(0), READS], 19.9, []),
    "one reads too long": ([replica(0), READS], 20, [EndTask, FixEnd]),
    # No leader looked for so long: the tasks are asked again, not replaced for its silence.
    "one reads for half a lease": ([replica(0), READS], 30, [BeginHandoff]),
    "nobody paused for half a lease": ([READS], 30, [BeginHandoff]),
    "one has not spoken": ([replica(0), replica(1, None)], 20, [EndTask, FixEnd]),
    "one is silent": (
        [replica(0), replica(1, None, liveness=Liveness.UNKNOWN)],
        20,
        [FixEnd],
    ),
    "paused for the pause before": ([replica(0, sequence=0)], 20, [EndTask]),
    "nobody pauses": ([READS, replica(0, TaskPhase.STARTING)], 20, [EndTask, EndTask]),
    "all silent": ([replica(0, None, liveness=Liveness.UNKNOWN)], 59, []),
    "nobody lives": ([], 0, [ResumeReading]),
    "nothing read": ([replica(0, position=EVEN)], 0, [ResumeReading]),
    "one read something": ([replica(0, position=EVEN), replica(1)], 0, [FixEnd]),
}
MUST_END = {
    "all paused": ([replica(0)], 0, [FixEnd]),
    "nobody lives": ([], 0, [CloseEmpty]),
    "nothing read": ([replica(0, position=EVEN)], 0, [CloseEmpty]),
    "all paused, half a lease ago": ([replica(0)], 30, [BeginHandoff]),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_comes_next(name: str) -> None:
    """Goal: pause, fix, resume: from the record and the reports alone (P12, P13)."""
    replicas, after_s, wanted = TABLE[name]

    assert [type(a) for a in step(replicas, after_s).actions] == wanted


@pytest.mark.parametrize("name", MUST_END)
def test_what_comes_next_for_a_group_that_must_end(name: str) -> None:
    replicas, after_s, wanted = MUST_END[name]

    actions = step(replicas, after_s, pausing(at=0, must_end=True)).actions

    assert [type(a) for a in actions] == wanted
    assert all(a.must_end for a in actions if isinstance(a, BeginHandoff))


@pytest.mark.parametrize("name", TABLE)
def test_every_action_names_the_order_it_was_decided_on(name: str) -> None:
    """Goal: applied late, it does nothing."""
    replicas, after_s, _ = TABLE[name]
    third = replace(pausing(at=0), sequence=1)

    for action in step(replicas, after_s, third).actions:
        if not isinstance(action, EndTask):
            assert getattr(action, "expected_sequence", None) == third.sequence


def test_a_group_that_waits_says_when_to_look_again() -> None:
    """Goal: no handoff depends on a sign that may be lost."""
    waits = step([replica(0), READS], 5)

    assert waits.actions == ()
    assert waits.wake_at == PAUSED_AT + PlanLimits().pause_timeout


def test_the_end_is_per_partition_that_of_the_furthest() -> None:
    far = replica(1, position={part(0): 3, part(2): 8})

    [fix] = step([replica(0), far], 0).actions

    assert isinstance(fix, FixEnd)
    assert fix.end == {part(0): 9, part(2): 8}


def test_only_paused_replicas_say_where_the_end_is() -> None:
    """Goal: a replica that reads on does not move the end while it is being fixed."""
    reads = replica(1, TaskPhase.READING, {part(0): 99, part(2): 99}, sequence=0)

    fix = step([replica(0), reads], 20).actions[-1]

    assert isinstance(fix, FixEnd)
    assert fix.end == AT


def test_replicas_of_different_partitions_are_a_bug() -> None:
    with pytest.raises(OffsetsError, match="different partitions"):
        step([replica(0), replica(1, position={part(0): 1})], 0)


def test_a_pause_times_out_before_half_its_lease() -> None:
    """Goal: limits under which a handoff could never end are refused."""
    with pytest.raises(ValueError, match="half the pause lease"):
        PlanLimits(pause_timeout=30 * SECOND, pause_lease=60 * SECOND)
