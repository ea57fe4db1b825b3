"""Each defence alone: what another one would hide from the simulation (P27).

`python -m tests.simulation --mutants` plants the fault and expects the test to fail.
"""

from dataclasses import replace
from datetime import timedelta

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import CommittedOffset, GenerationState, TaskStatus, WorkerRow
from supervisor.core.planning.actions import BeginHandoff, FixEnd
from supervisor.core.planning.observed import Liveness, PlanLimits
from supervisor.core.planning.publish import PublishFacts, judge
from supervisor.core.planning.rules.handoff import HandoffStep, ReplicaView, next_step
from tasks.contract.messages import (
    Counters,
    Order,
    PublishOutcome,
    PublishRequest,
    RunState,
    SyncRequest,
    TaskPhase,
)
from tasks.contract.offsets import Offsets, furthest, is_at_end
from tasks.machine.events import Ordered
from tasks.machine.machine import step
from tests.supervisor.core.snapshots import EVEN, NOON, generation, part, pausing, report, task
from tests.tasks.machine.machines import bench

_LIMITS = PlanLimits()
_READ = dict.fromkeys(EVEN, 7)


def _step(*, seconds: float, paused_for: int, reads: Offsets = _READ) -> HandoffStep:
    of = replace(pausing(at=0), sequence=2)
    mine = task(of)
    last_report = report(mine, reads, TaskPhase.PAUSED, sequence=paused_for)
    replica = ReplicaView(mine, Liveness.ALIVE, last_report)
    return next_step(of, [replica], None, NOON + timedelta(seconds=seconds), _LIMITS)


def test_a_pause_of_an_earlier_order_says_nothing() -> None:
    """Source: P5, P13; who is paused for order 1 may have read on and paused for 2 is yet to come.

    Beyond the end it would drop its tail (P14): here nothing has to.
    """
    early, present = _step(seconds=1, paused_for=1), _step(seconds=1, paused_for=2)
    assert early.actions == ()
    assert [type(action) for action in present.actions] == [FixEnd]


def test_after_half_a_lease_everybody_is_paused_again() -> None:
    """Source: P13; later than that the first to pause may read on before it hears the end."""
    half = _LIMITS.pause_lease.total_seconds() / 2
    before, after = _step(seconds=half - 1, paused_for=2), _step(seconds=half, paused_for=2)
    assert [type(action) for action in before.actions] == [FixEnd]
    assert [type(action) for action in after.actions] == [BeginHandoff]


def test_the_end_is_that_of_the_furthest_replica() -> None:
    """Source: P13, Druid's checkpointTaskGroup; nothing that was read is thrown away."""
    behind, ahead = {part(0): 3, part(2): 9}, {part(0): 5, part(2): 8}
    assert furthest([behind, ahead]) == {part(0): 5, part(2): 9}


def test_a_range_is_done_at_or_past_its_end() -> None:
    """Source: R10, E9; control records and compaction leave holes at the end of a range."""
    end = {part(0): 5, part(2): 5}
    assert is_at_end({part(0): 6, part(2): 5}, end)
    assert not is_at_end({part(0): 6, part(2): 4}, end)


def test_a_late_order_has_no_effect() -> None:
    """Source: R2, C4, P5; a pause of an earlier handoff arrives after the resume."""
    b = bench(stable=100)
    resumed = Order(term=2, sequence=5, state=RunState.RUN)
    late = Order(term=2, sequence=4, state=RunState.PAUSE)
    state, _ = step(b.state, Ordered(b.now, resumed))
    after, _ = step(state, Ordered(b.now, late))
    assert after.order.rank == (2, 5)
    assert after.paused_until is None


def test_the_judgement_alone_refuses_an_ended_attempt() -> None:
    """Source: R5, B9; the transaction, which would be undone, is not asked."""
    of = replace(generation(1, EVEN, _READ, state=GenerationState.PUBLISHING))
    committed = {p: CommittedOffset(of.supervisor_id, p, 0, 0, "id-1") for p in EVEN}
    zombie = replace(task(of), status=TaskStatus.FAILED, ended_at=NOON, reason="lost")
    request = PublishRequest(
        task_id=zombie.id,
        incarnation=1,
        start=dict(EVEN),
        end=_READ,
        topic_ids={part(0).topic: "id-1"},
        segments=(),
        counters=Counters(),
    )
    alive = judge(PublishFacts(task(of), of, None, committed, ()), request)
    refused = judge(PublishFacts(zombie, of, None, committed, ()), request)
    assert alive.outcome is PublishOutcome.COMMITTED
    assert refused.outcome is PublishOutcome.SUPERSEDED


def test_a_silent_worker_is_not_a_lost_one() -> None:
    """Source: P6; silence shorter than `worker_timeout` costs nobody a task."""
    clock = ManualClock(NOON)
    registry = WorkerRegistry(clock, worker_timeout=timedelta(seconds=60), led_since=lambda: 0.0)
    registry.registered(WorkerRow("w1", 1, "http://w1", 4, NOON))
    registry.record(
        SyncRequest(worker_id="w1", incarnation=1, sequence=1, url="http://w1", slots=4)
    )
    livenesses = []
    for _ in range(3):
        livenesses.append(registry.views()[0].liveness)
        clock.advance(timedelta(seconds=40))
    assert livenesses == [Liveness.ALIVE, Liveness.UNKNOWN, Liveness.LOST]
