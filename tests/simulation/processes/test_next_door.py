"""The other supervisor of a run is posted in the end, however long nobody led."""

from dataclasses import replace
from random import Random

import pytest

from tests.simulation.faults.beside import Beside, Neighbour
from tests.simulation.faults.faults import draw
from tests.simulation.processes.next_door import NextDoor
from tests.simulation.processes.user import User
from tests.simulation.world.stored import NEIGHBOUR
from tests.simulation.world.world import World

_POSTS = "SELECT count(*) FROM supervisor_specs WHERE supervisor_id = ?"
_TOO_LONG_S = 800.0
"""More than all tries to post a spec take while no overlord answers."""


def _world(kind: Neighbour) -> World:
    """A run in which nothing goes wrong by chance, before any of its processes starts."""
    chance = Random("any run")
    swarm = replace(draw(chance, chance), crash={}, targets=(), moments=(), hold=0.0, lost_ack=0.0)
    rare = replace(swarm.rare, targets=(), look_crash=0.0, topics=1, bounded=False)
    return World(0, replace(swarm, rare=rare), Beside(neighbour=kind))


@pytest.mark.parametrize(
    ("kind", "posts"), [(Neighbour.SOUND, 1), (Neighbour.UPGRADED, 1), (Neighbour.FAILING, 0)]
)
def test_a_spec_that_nobody_took_while_nobody_led_is_posted_again_in_the_quiet(
    kind: Neighbour, posts: int
) -> None:
    """Case: in seed 465 no try of a user met a leader, and the run waited for its rows in vain."""
    world = _world(kind)
    other = NextDoor(world)
    other.begin(User(world))
    world.kernel.run(_TOO_LONG_S)
    world.overlords[0].start()
    world.kernel.run(_TOO_LONG_S + 5 * world.times.lease_ttl)
    assert world.store_connection.execute(_POSTS, (NEIGHBOUR,)).fetchone() == (0,)

    other.calm_down()
    world.kernel.run(_TOO_LONG_S + 10 * world.times.lease_ttl)
    assert world.store_connection.execute(_POSTS, (NEIGHBOUR,)).fetchone() == (posts,)
