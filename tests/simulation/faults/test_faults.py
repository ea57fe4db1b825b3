"""Faults do what their names say: who calls Kafka can die there, a slow database answers."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from supervisor.core.values.errors import MetadataUnavailable
from supervisor.ports.store import Streams
from tests.simulation.faults.faults import draw
from tests.simulation.faults.outside import Outside
from tests.simulation.faults.slowness import OFTEN_S, TOO_LATE_TTLS, SlowDatabase
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.user import User
from tests.simulation.world.clocks import ProcessClock
from tests.simulation.world.kafka import Kafka, Log, OverlordStreams, Rejects
from tests.simulation.world.kernel import DEPTH_MAX, Crash, Kernel, Process
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import TOPIC, World
from tests.supervisor.core.snapshots import spec

CALLS: dict[str, Callable[[OverlordStreams], object]] = {
    "state": lambda streams: streams.state(SUPERVISOR, spec()),
    "forget": lambda streams: streams.forget(SUPERVISOR),
    "look": lambda streams: streams.look(SUPERVISOR, spec()),
}
"""Every call of the port, and the look beside."""


def test_the_last_stable_offset_is_not_below_the_start_of_the_log() -> None:
    """Seed 74620: retention passes an open transaction, as Kafka lets it, and moves both.

    Source: `maybeIncrementFirstUnstableOffset` of Kafka's UnifiedLog.
    """
    log = Log(records=[(n, None, "data") for n in range(9)], open_from=3)
    assert [log.stable, replace(log, start=2).stable, replace(log, start=6).stable] == [3, 3, 6]
    assert replace(log, start=6, open_from=None).stable == 9


@pytest.fixture
def world() -> World:
    """A run in which nothing goes wrong by chance."""
    chance = Random("any run")
    swarm = replace(draw(chance, chance), overlords=2, crash={}, targets=(), hold=0.0, lost_ack=0.0)
    new_world = World(0, replace(swarm, rare=replace(swarm.rare, targets=(), look_crash=1.0)))
    for overlord in new_world.overlords:
        overlord.start()
    return new_world


def _points(call: Callable[[OverlordStreams], object]) -> list[str]:
    kernel, points = Kernel(0), list[str]()
    kafka = Kafka(kernel.random("kafka"), lambda: 0.0, Rejects(kernel.random("rejects"), 0.0))
    kafka.create(TOPIC, 1)
    clock = ProcessClock(kernel, skew_s=0.0, rate=1.0, boot_s=0.0)
    call(OverlordStreams(kafka, clock, reached=points.append))
    return points


def test_each_call_to_kafka_is_a_crash_point() -> None:
    ports = {name for name in vars(Streams) if not name.startswith("_")}
    assert ports | {"look"} == CALLS.keys() | {"last"}, "`last` calls nobody"
    for name, call in CALLS.items():
        assert f"kafka:before {name}" in _points(call)
    assert _points(CALLS["look"]) == ["kafka:before look", "kafka:after look"]


def test_an_overlord_dies_at_a_call_to_kafka(world: World) -> None:
    overlord = world.overlords[0]
    with pytest.raises(Crash):
        overlord.resets.streams.state(SUPERVISOR, spec())
    assert world.tally.pairs == {("kafka:before look", "none"): 1}
    world.quiet = True
    assert not overlord.resets.streams.state(SUPERVISOR, spec()).known  # there is no such topic


def _read(overlord: OverlordProcess) -> None:
    with overlord.store.reading() as tx:
        tx.specs.newest(SUPERVISOR)


def test_a_slow_database_answers_late_and_sometimes_later_than_a_lease_lasts() -> None:
    kernel, ttl, took = Kernel(0), 9.0, list[float]()
    database, process = SlowDatabase(kernel, ttl), Process("overlord-0")
    process.born()
    database.begin(1_000.0)
    for _ in range(60):
        began = kernel.now
        database.answer(process, done=False)
        took.append(kernel.now - began)
    assert min(took) >= OFTEN_S[0]
    assert max(took) > ttl * TOO_LATE_TTLS[0]
    assert sum(seconds <= OFTEN_S[1] for seconds in took) > len(took) / 2


def test_when_the_database_is_slow_calls_are_answered_and_late(world: World) -> None:
    Outside(world, User(world))._database_slow()
    began = world.kernel.now
    _read(world.overlords[0])
    assert world.kernel.now >= began + OFTEN_S[0]


def test_a_slow_database_is_as_fast_as_ever_when_it_is_over(world: World) -> None:
    world.slow_database.begin(5.0)
    world.kernel.run(6.0)
    _read(world.overlords[0])
    assert world.kernel.now == 6.0
    world.slow_database.begin(1_000.0)
    world.calm_down()
    _read(world.overlords[0])
    assert world.kernel.now == 6.0


def test_who_finds_every_connection_waiting_is_refused_before_anything_is_done(
    world: World,
) -> None:
    """F7; what has been done already is answered all the same."""
    world.slow_database.begin(1_000.0)
    world.kernel.depth = DEPTH_MAX
    one = world.overlords[0]
    with pytest.raises(MetadataUnavailable):
        _read(one)
    world.overlord_reached(one, "store.leading:after plan")


def test_a_leader_whose_renewal_comes_too_late_does_not_lead_meanwhile(world: World) -> None:
    """Source: F2: the leader keeps its lease or steps down cleanly."""
    overlord = world.overlords[0]
    overlord.around.kernel.run(4 * world.times.lease_ttl)
    leader = next(one for one in world.overlords if one.leadership.leads())
    world.slow_database.begin(3 * world.times.lease_ttl)
    led: list[int] = []
    world.kernel.observed = lambda: led.append(sum(o.leadership.leads() for o in world.overlords))
    world.kernel.run(world.kernel.now + 8 * world.times.lease_ttl)
    assert max(led) == 1
    assert any(one.leadership.leads() for one in world.overlords)
    assert leader.alive
