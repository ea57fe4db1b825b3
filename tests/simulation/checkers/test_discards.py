"""P15, P16, P19: a range that is given up without a cause is named, and each cause is one."""

import json

import pytest

from tests.simulation.checkers.broken import LATER, SUP, Broken
from tests.simulation.checkers.discards import FAILURES
from tests.simulation.checkers.invariants import after_event

WHY = "somebody said so"


def discard(world: Broken, name: str = "g1", why: str = WHY) -> None:
    """Give a range up, with what of its tasks still runs."""
    world.insert(
        "audit",
        at=LATER,
        actor="o",
        action="discard",
        subject=name,
        detail=json.dumps({"why": why}),
    )
    world.sql("UPDATE generations SET state='DISCARDED', ended_at=? WHERE id=?", LATER, name)
    world.sql("UPDATE generation_partitions SET open=0 WHERE generation_id=?", name)
    world.sql(
        "UPDATE tasks SET status='FAILED', lost=1, reason=?, ended_at=?"
        " WHERE generation_id=? AND ended_at IS NULL",
        *(why, LATER, name),
    )


def fail(world: Broken, number: int, *, lost: bool = False) -> None:
    """Let the task of `g1`, and more in its place, end as failed."""
    world.sql("UPDATE tasks SET status='FAILED', lost=?, reason='x', ended_at=?", lost, LATER)
    for attempt in range(1, number):
        name = f"t1-{attempt}"
        world.task(name, "g1")
        world.sql(
            "UPDATE tasks SET status='FAILED', lost=?, ended_at=?, reason='x' WHERE id=?",
            *(lost, LATER, name),
        )


def post(world: Broken, version: int, spec: str | None) -> None:
    world.insert(
        "supervisor_specs",
        supervisor_id=SUP,
        version=version,
        created_at=LATER,
        author="u",
        spec=spec,
    )


def rules(world: Broken) -> set[str]:
    return {line.partition(" ")[0] for line in after_event(world)}


def test_a_range_that_lost_its_replicas_is_not_given_up(world: Broken) -> None:
    fail(world, 1, lost=True)
    discard(world)
    assert rules(world) == {"P15"}


def test_a_range_is_given_up_after_a_tombstone(world: Broken) -> None:
    fail(world, 1, lost=True)
    post(world, 2, None)
    discard(world)
    assert rules(world) == set()


def test_a_tombstone_gives_up_nothing_that_lives(world: Broken) -> None:
    """Source: P19: live tasks finish."""
    post(world, 2, None)
    discard(world)
    assert rules(world) == {"P15"}


@pytest.mark.parametrize("posted_since_s", [10.0, 100.0])
def test_a_tombstone_that_a_newer_spec_follows_counts_for_a_moment_only(
    world: Broken, posted_since_s: float
) -> None:
    """A plan that was made before is carried out."""
    fail(world, 1, lost=True)
    post(world, 2, None)
    assert rules(world) == set()
    post(world, 3, "{}")
    world.clock.at += posted_since_s
    discard(world)
    assert rules(world) == ({"P15"} if posted_since_s > 60.0 else set())


@pytest.mark.parametrize(
    ("failures", "lost", "newer", "lawful"),
    [
        (FAILURES, False, True, True),
        (FAILURES - 1, False, True, False),
        (FAILURES, True, True, False),
        (FAILURES, False, False, False),
    ],
)
def test_a_broken_spec_is_given_up_only_for_a_newer_one(
    world: Broken, failures: int, *, lost: bool, newer: bool, lawful: bool
) -> None:
    """Source: P17."""
    fail(world, failures, lost=lost)
    if newer:
        post(world, 2, '{"other": 1}')
    discard(world)
    assert rules(world) == (set() if lawful else {"P15"})


@pytest.mark.parametrize(
    ("spec", "newer", "lives", "lawful"),
    [
        ('{"ofTheFuture": 1}', True, False, True),
        ('{"ofTheFuture": 1}', False, False, False),
        ('{"ofTheFuture": 1}', True, True, False),
        ("{}", True, False, False),
    ],
)
def test_a_spec_that_cannot_be_read_is_given_up_only_for_a_newer_one(
    world: Broken, spec: str, *, newer: bool, lives: bool, lawful: bool
) -> None:
    """Source: P17: a spec of a newer release, and then one that is readable."""
    world.sql("UPDATE supervisor_specs SET spec=? WHERE version=1", spec)
    if not lives:
        fail(world, 1, lost=True)
    if newer:
        post(world, 2, '{"other": 1}')
    discard(world)
    assert rules(world) == (set() if lawful else {"P15"})


def test_what_follows_a_range_that_is_given_up_is_given_up_with_it(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.generation("g2", 2, start=5)
    world.task("t2", "g2")
    assert rules(world) == set()
    world.sql("UPDATE tasks SET status='FAILED', lost=1, ended_at=? WHERE id='t1'", LATER)
    post(world, 2, None)
    discard(world, "g1")
    discard(world, "g2", "it follows g1")
    assert rules(world) == set()


def test_what_follows_nothing_is_not_given_up(world: Broken) -> None:
    world.fix_end("g1", 5)
    world.generation("g2", 2, start=5)
    assert rules(world) == set()
    discard(world, "g2")
    assert rules(world) == {"P15"}


def test_an_offset_that_kafka_holds_is_not_reset_by_itself(world: Broken) -> None:
    """Goal: the same reset is right if somebody asked for it, or if Kafka holds no such offset."""
    world.reset(to=4)
    world.sql("UPDATE audit SET action='reset-automatically'")
    assert rules(world) == {"P16"}


def test_an_offset_that_kafka_does_not_hold_may_be_reset_by_itself(world: Broken) -> None:
    world.kafka.lost["id-1", 0] = 4
    world.reset(to=4)
    world.sql("UPDATE audit SET action='reset-automatically'")
    assert rules(world) == set()
