"""What the simulated user asks and cannot have is asked rightly; a wrong answer is told."""

from dataclasses import replace
from random import Random

import pytest

from supervisor.core.spec.changes import forbidden
from supervisor.core.spec.reader import read_spec
from tests.simulation.faults.faults import draw
from tests.simulation.processes.asking import _refused, unchangeable
from tests.simulation.processes.user import User
from tests.simulation.world.world import World


def _world(*, topics: int = 1, bounded: bool = False) -> World:
    """A run in which nothing goes wrong by chance."""
    chance = Random("any run")
    swarm = replace(draw(chance, chance), crash={}, targets=(), moments=(), hold=0.0, lost_ack=0.0)
    rare = replace(swarm.rare, targets=(), look_crash=0.0, topics=topics, bounded=bounded)
    return World(0, replace(swarm, rare=rare))


@pytest.mark.parametrize(
    ("topics", "bounded", "changes"), [(1, True, 4), (1, False, 3), (2, False, 2)]
)
def test_each_change_that_cannot_be_is_a_spec_but_for_what_it_changes(
    topics: int, changes: int, *, bounded: bool
) -> None:
    document = User(_world(topics=topics, bounded=bounded)).document()
    before = read_spec(document).spec
    found = [forbidden(before, read_spec(other).spec) for other in unchangeable(document)]
    assert len(found) == changes
    assert all(found)


def test_an_answer_that_allows_what_cannot_be_is_a_bug() -> None:
    world = _world()
    world.kafka.create(world.topics[0], 1)
    world.overlords[0].start()
    world.kernel.run(5 * world.times.lease_ttl)
    document = User(world).document()
    world.overlords[0].service.apply_spec(document, "user")
    for other in unchangeable(document):
        _refused(world.overlords[0], other)
    assert world.bugs == []
    _refused(world.overlords[0], document)
    assert "cannot be changed" in world.bugs[0]
