"""A leader whose lease was taken over, and that does not know it yet, shows no preview."""

from collections.abc import Mapping

import pytest

from supervisor.control.leadership import Leadership
from supervisor.core.values.errors import LeaseLost
from supervisor.services.foresight.leaders_view import leaders_view
from tests.supervisor.api.changes import STORIES
from tests.supervisor.api.http.test_verb_previews import VERBS, ask, rows, shown
from tests.supervisor.api.world import SUPERVISORS, World

OTHER = "http://two:8090"
MOVES = tuple(
    ("post", f"{SUPERVISORS}/{{supervisor_id}}/{verb}")
    for verb in ("reset", "resetOffsets", "resetToLatestAndBackfill")
)
SPECS = (
    ("post", SUPERVISORS),
    ("post", "/api/v1/supervisors/{supervisor_id}/rollback"),
)


def _take_over(world: World, url: str = "") -> None:
    """Have another overlord lead, as after a pause of this one."""
    with world.store.writing() as tx:
        assert tx.lease.take(tx.lease.read(), "two", url) is not None


def _is_refused(status: int, problem: Mapping[str, object]) -> bool:
    """Whether the answer is that this overlord does not lead, and nothing more."""
    refused = (status, problem["type"]) == (503, "/problems/not-the-leader")
    return refused and "digest" not in str(problem)


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, id=" ".join(verb)) for verb in (*VERBS, *MOVES, *SPECS)]
)
def test_neither_a_preview_nor_an_act_comes_from_a_term_that_is_over(
    world: World, verb: tuple[str, str]
) -> None:
    """Goal: what workers told it long ago is not shown, with a digest, as the present state."""
    path, body = STORIES[verb](world)
    world.settle()
    digest = shown(world, verb[0], path, body).get("digest")
    _take_over(world)
    before = rows(world)
    assert world.leadership.leads(), "it does not know it yet"

    status, problem = ask(world, verb[0], path, "dryRun=true", body)

    assert _is_refused(status, problem), (status, problem)
    assert not world.leadership.leads()
    assert world.leadership.fenced_writes == 0, "nothing was written"
    if digest is not None:
        assert _is_refused(*ask(world, verb[0], path, f"expect={digest}", body))
    assert rows(world) == before


def test_the_refusal_names_the_leader(world: World) -> None:
    _take_over(world, OTHER)

    with pytest.raises(LeaseLost) as lost, leaders_view(world.store, world.leadership):
        pytest.fail("it is not looked")

    assert lost.value.leader == OTHER


def test_a_term_that_ends_while_it_looks_ends_the_look(world: World) -> None:
    """Goal: also where the view was begun in time, what it has worked out does not count."""
    with pytest.raises(LeaseLost), leaders_view(world.store, world.leadership):
        world.leadership.deposed(world.leadership.term())


def test_a_lease_that_was_released_shows_nothing(world: World) -> None:
    term = world.leadership.term()
    with world.store.writing() as tx:
        tx.lease.release(term, "one")

    with pytest.raises(LeaseLost) as lost, leaders_view(world.store, world.leadership):
        pytest.fail("it is not looked")

    assert lost.value.leader is None
    assert not world.leadership.leads()


def test_a_view_of_an_earlier_term_does_not_end_the_present_one(world: World) -> None:
    """Goal: a look that slept through two changes of leader deposes nobody."""
    leadership: Leadership = world.leadership
    leadership.deposed(leadership.term() - 1)

    assert leadership.leads()
