"""I10: what a task reads twice is named, unless it was taken from it; a handover takes nothing."""

from dataclasses import replace
from random import Random

import pytest

from tasks.contract.messages import TaskPhase
from tasks.contract.offsets import TopicPartition
from tests.simulation.checkers import invariants
from tests.simulation.checkers.broken import P0, Broken
from tests.simulation.checkers.invariants import at_end
from tests.simulation.checkers.work import nothing_is_read_again_in_vain
from tests.simulation.faults.faults import draw
from tests.simulation.faults.rare import Rare
from tests.simulation.processes.user import User
from tests.simulation.world.secret import secret_in_place
from tests.simulation.world.world import TOPIC, World


def read(world: Broken, start: int, end: int, last: int | None = None) -> None:
    bound = None if last is None else {P0: last}
    world.happened("read", task="t1", worker="w1", start={P0: start}, end={P0: end}, last=bound)


def take_back(world: Broken, to: int) -> None:
    world.happened("taken back", task="t1", to={P0: to})


def spoken(world: Broken | World) -> list[str]:
    return list(nothing_is_read_again_in_vain(world))


def test_batches_that_follow_each_other_are_no_waste(world: Broken) -> None:
    read(world, 0, 4)
    read(world, 4, 4)
    read(world, 4, 9, last=9)
    assert spoken(world) == []


def test_what_is_read_again_is_counted_and_named_at_the_end(world: Broken) -> None:
    read(world, 0, 4)
    read(world, 2, 9)
    [line] = spoken(world)
    assert line == f"I10 t1 reads 2 offsets of {P0} again, from 2"
    assert line in at_end(world)


def test_what_was_taken_back_may_be_read_again_and_no_more_than_that(world: Broken) -> None:
    read(world, 0, 4)
    take_back(world, 2)
    read(world, 2, 6)
    assert spoken(world) == []
    read(world, 2, 6)
    assert len(spoken(world)) == 1
    take_back(world, 3)
    read(world, 2, 6)
    assert len(spoken(world)) == 2


def test_who_lost_its_disk_reads_everything_again(world: Broken) -> None:
    read(world, 0, 4)
    world.happened("wiped", worker="w2")
    read(world, 0, 4)
    assert len(spoken(world)) == 1
    world.happened("wiped", worker="w1")
    read(world, 0, 4)
    assert len(spoken(world)) == 1


def test_what_is_read_beyond_the_end_is_named(world: Broken) -> None:
    read(world, 0, 6, last=5)
    [line] = spoken(world)
    assert "its range ends at 5" in line


POINTS = (
    "before:BeginHandoff",
    "after:BeginHandoff",
    "before:FixEnd",
    "in:FixEnd",
    "after:FixEnd",
    "sync:told-end",
    "before:StartTask",
    "after:StartTask",
    "publish:in-transaction",
    "publish:committed",
)


@pytest.mark.parametrize("point", POINTS)
def test_after_an_overlord_crash_alone_nothing_is_read_again(point: str) -> None:
    """A1 to A12: the same tasks run on, each reads its range once, successors begin at the ends.

    That they begin there, and that nobody reads twice what it holds, is for the checkers to see.
    """
    chance = Random("any run")
    swarm = replace(draw(chance, chance), crash={}, targets=(), moments=(), hold=0.0, lost_ack=0.0)
    swarm = replace(swarm, drop=0.0, double=0.0, slow=0.0, overlords=2, workers=2, slots=4)
    swarm = replace(swarm, replicas=2, task_count=1, partitions=2, task_duration_s=8)
    swarm = replace(swarm, start_earliest=True, batch_s=0.3, merge_s=0.2, rare=Rare())
    world = World(0, swarm)
    died = _crash_once(world, point)
    with secret_in_place():
        _live(world)
    assert died == [point]
    assert [line for line in invariants.at_end(world) if not line.startswith("I11")] == []
    # A pause or a stop gives a batch up, as in every handoff; nothing else is taken from a task.
    taken = {line.detail["why"] for line in world.log if line.kind == "taken back"}
    assert taken <= {"cut", "Discard"}
    attempts = world.store_connection.execute("SELECT max(attempt) FROM tasks").fetchone()[0]
    published = world.store_connection.execute("SELECT count(*) FROM publications").fetchone()[0]
    assert (attempts, published >= 2) == (1, True)


def _crash_once(world: World, point: str) -> list[str]:
    """Let the first overlord that comes to this point die there."""
    reached, died = world.overlord_reached, list[str]()

    def passing(process: object, at: str) -> None:
        if at.endswith(point) and not died and world.kernel.now > 6.0:
            died.append(point)
            world.crash(process, at)  # type: ignore[arg-type]  # an overlord
        reached(process, at)  # type: ignore[arg-type]  # the same

    for overlord in world.overlords:
        overlord.around = replace(overlord.around, reached=passing)
    return died


def _live(world: World) -> None:
    """Let records come for half a minute, and look at every event."""
    user, violations = User(world), list[str]()

    def observed() -> None:
        violations.extend(invariants.after_event(world))

    world.kernel.observed = observed
    world.kafka.create(TOPIC, 2)
    for overlord in world.overlords:
        overlord.start()
    for worker in world.workers:
        worker.start()
    user.insist()
    for second in range(40):
        for number in (0, 1):
            world.kafka.produce(TopicPartition(TOPIC, number), 3)
        world.kernel.run(float(second))
    assert violations == []
    assert TaskPhase.FAILED not in {
        line.detail["phase"] for line in world.log if line.kind == "phase"
    }
