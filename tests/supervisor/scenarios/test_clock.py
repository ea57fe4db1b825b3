"""The clock of a real process, while the wall clock of its machine jumps.

Source: faults H1; protocol rule P3.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest

from supervisor.adapters import clock as clocks
from supervisor.adapters.clock import SystemClock
from supervisor.control.leadership import Leadership
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.model.rows import GenerationState, TaskStatus, WorkerRow
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.rules.handoff_due import handoff_due_at, why_over
from supervisor.ports.store import Store
from tasks.contract.messages import SyncRequest
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import TOPIC, generation, offsets, spec
from tests.supervisor.world import World

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
JUMPS = [HOUR, -HOUR, DAY, -DAY]
Jump = Callable[[timedelta], None]


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jump]:
    """Set the wall clock, as the adapter reads it, by so much; the monotonic one goes on."""
    by = [timedelta()]

    class Wall(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            shifted = datetime.now(tz) + by[0]
            return cls.fromtimestamp(shifted.timestamp(), tz)

    def set_by(jump: timedelta) -> None:
        by[0] = jump

    monkeypatch.setattr(clocks, "datetime", Wall)
    yield set_by
    by[0] = timedelta()


@pytest.mark.parametrize("by", JUMPS, ids=str)
def test_time_goes_on_evenly_and_a_new_process_takes_the_new_wall_time(
    jump: Jump, by: timedelta
) -> None:
    clock = SystemClock()
    before = clock.now()
    jump(by)

    assert timedelta() <= clock.now() - before < MINUTE
    assert abs(SystemClock().now() - before - by) < MINUTE


@pytest.mark.parametrize("by", JUMPS, ids=str)
def test_no_deadline_moves(jump: Jump, by: timedelta, store: Store) -> None:
    """Goal: no mass handoff, no stall: leases, workers and ranges last as long as they would."""
    clock = SystemClock()
    leadership = Leadership(store, clock, holder="one", url="http://one", ttl=HOUR)
    leadership.step()
    left_s = leadership.seconds_left()
    registry = WorkerRegistry(clock, worker_timeout=HOUR, led_since=leadership.led_since)
    registry.registered(WorkerRow("w1", 1, "http://w1:8091", 4, clock.now()))
    registry.record(
        SyncRequest(worker_id="w1", incarnation=1, sequence=1, url="http://w1", slots=4)
    )
    opened = replace(generation(1, offsets(0, 0)), timer_started_at=clock.now())
    jump(by)

    assert leadership.leads()
    assert left_s - MINUTE.total_seconds() < leadership.seconds_left() <= left_s
    assert [view.liveness for view in registry.views()] == [Liveness.ALIVE]
    assert why_over(opened, spec(duration=HOUR), clock.now()) is None
    assert abs(handoff_due_at(opened, spec(duration=HOUR)) - clock.now() - HOUR) < MINUTE


@pytest.mark.parametrize("by", [HOUR, DAY], ids=str)
def test_a_handoff_goes_on_under_an_overlord_whose_clock_is_behind(
    by: timedelta, store: Store
) -> None:
    """Goal: the pause is ordered again and the range published, without waiting for the clock."""
    world = World(store, spec(task_count=1), partitions=1)
    world.settle()
    world.sync()
    world.write(7)
    world.read(7)
    world.sync()
    world.clock.advance(HOUR)
    world.one_pass()
    with store.reading() as tx:
        [range_] = tx.generations.live(TOPIC)
    assert range_.state is GenerationState.PAUSING

    world.take_over(behind=by)
    world.sync()  # the replica pauses for an order of which nobody knows how old it is
    for _ in range(3):
        world.one_pass()
        world.sync()

    with store.reading() as tx:
        ended = tx.generations.live(TOPIC)[0]
    assert (ended.state, ended.sequence) == (GenerationState.PUBLISHING, 3)
    assert ended.end == {TopicPartition(TOPIC, 0): 7}


@pytest.mark.parametrize("by", [HOUR, DAY], ids=str)
def test_a_failed_task_is_replaced_by_an_overlord_whose_clock_is_behind(
    by: timedelta, store: Store
) -> None:
    """Goal: the first replacement comes at once, as it would without a takeover (B2)."""
    world = World(store, spec(task_count=1), partitions=1)
    world.settle()
    with store.leading(world.leadership.term()) as tx:
        [first] = tx.tasks.active(TOPIC)
        tx.tasks.end(first.id, TaskStatus.FAILED, "killed", world.clock.now())

    world.take_over(behind=by)
    world.settle()

    with store.reading() as tx:
        assert [task.attempt for task in tx.tasks.active(TOPIC)] == [2]


def test_what_is_told_is_aware_and_utc() -> None:
    assert SystemClock().now().tzinfo is UTC
