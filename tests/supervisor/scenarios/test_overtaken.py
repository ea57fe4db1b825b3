"""What is decided from rows that somebody else changes before it is done: nothing stands still."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from supervisor.chores.forget import Forgetting
from supervisor.control.observe import observe
from supervisor.control.reconcile import make_pass
from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import StreamState
from supervisor.core.planning.states import roll_up
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import SupervisorNotFound
from supervisor.ports.store import Store
from tests.supervisor.core.snapshots import TOPIC, part, spec
from tests.supervisor.services.supervisors.backfilling import OWN, beside
from tests.supervisor.services.supervisors.backfilling import go_on as both_go_on
from tests.supervisor.services.supervisors.backfilling import run as backfill
from tests.supervisor.services.supervisors.test_resets import committed, go_on, resets
from tests.supervisor.world import World


def _forget(world: World) -> None:
    world.set_spec(None)
    forgetting = Forgetting(world.store, world.clock, world.leadership.term, timedelta(0))
    forgetting.forget(TOPIC, "ada")


def _live(world: World) -> list[GenerationState]:
    with world.store.reading() as tx:
        return [generation.state for generation in tx.generations.live(TOPIC)]


@pytest.fixture
def apart(store: Store) -> World:
    """One range of both partitions publishes; the next pass opens one for each of them."""
    world = World(store, spec(task_count=1))
    world.read_along()
    world.set_spec(spec(task_count=2))
    for _ in range(10):
        if _live(world) == [GenerationState.PUBLISHING]:
            return world
        world.one_pass()
        world.sync()
    raise AssertionError("its end was not fixed")


def test_a_reset_of_one_partition_before_ranges_open_stops_no_other(apart: World) -> None:
    """Goal: what led to a range's start is given up with the reset; nothing is to wait for it."""
    done: list[object] = []

    def reach(place: str) -> None:
        if place == "before:OpenGeneration" and not done:
            done.append(resets(apart).reset_offsets(TOPIC, {part(0): 0}, "ada"))

    make_pass(TOPIC, replace(apart.shell, failpoint=reach), apart.leadership.term())
    for _ in range(10):
        go_on(apart, 1)
        apart.write(3)

    assert done
    assert committed(apart)[0] > 15
    assert committed(apart)[1] > 15


def test_a_range_opens_only_where_the_range_before_it_leads_by_then(apart: World) -> None:
    """Goal: a plan that was overtaken by a discard opens nothing (A7, P8)."""
    done: list[bool] = []

    def reach(place: str) -> None:
        if place == "before:OpenGeneration" and not done:
            now, why = apart.clock.now(), "a test"
            with apart.store.leading(apart.leadership.term()) as tx:
                [old] = tx.generations.live(TOPIC)
                done.append(tx.generations.close(old.id, GenerationState.DISCARDED, now, why))

    make_pass(TOPIC, replace(apart.shell, failpoint=reach), apart.leadership.term())

    assert done == [True]
    with apart.store.reading() as tx:
        starts = {at for each in tx.generations.live(TOPIC) for at in each.start.values()}
    assert starts <= {0}, "nothing leads to 15 any more"


def test_a_range_that_nothing_leads_to_is_read_again_from_where_it_is_led(apart: World) -> None:
    """Goal: where the transactions of both ran side by side, the next pass mends it."""
    world = apart
    world.one_pass()
    with world.store.reading() as tx:
        [old, first, second] = tx.generations.live(TOPIC)
    assert (dict(first.start), dict(second.start)) == ({part(0): 15}, {part(1): 15})
    with world.store.leading(world.leadership.term()) as tx:
        assert tx.generations.close(old.id, GenerationState.DISCARDED, world.clock.now(), "a test")

    for _ in range(5):
        go_on(world, 1)

    seen = observe(TOPIC, world.shell.sources, world.clock.now())
    assert seen is not None
    assert min(committed(world).values()) >= 15
    assert roll_up(seen, None).detailed == "RUNNING"


def test_a_backfill_reads_nothing_of_a_topic_that_was_made_anew(store: Store) -> None:
    """Goal: its ranges are of the topic before; what stands there now is read by the first."""
    world = World(store, spec(task_count=1))
    world.read_along()
    world.settle()
    world.sync()
    world.write(20)
    backfill(world)
    world.streams.delete(TOPIC)
    world.streams.create(TOPIC, 2, "id-2")
    world.ends = dict.fromkeys(world.ends, 0)
    world.settle()
    resets(world).reset(TOPIC, "ada")
    world.write(60)
    with store.reading() as tx:
        before = {s.id for who in (TOPIC, OWN) for s in tx.segments.of_supervisor(who)}

    both_go_on(world)

    with store.reading() as tx:
        segments = [s for who in (TOPIC, OWN) for s in tx.segments.of_supervisor(who)]
    read = Counter(
        (span.partition, at)
        for segment in segments
        if segment.id not in before
        for span in segment.file.spans
        for at in range(span.first, span.last + 1)
    )
    assert read == {(partition, at): 1 for partition in (0, 1) for at in range(60)}
    seen = observe(OWN, beside(world).shell.sources, world.clock.now())
    assert seen is not None
    assert roll_up(seen, None).detailed == "TOPIC_CHANGED"


def test_a_supervisor_that_is_forgotten_meanwhile_gets_no_offsets(store: Store) -> None:
    world = World(store, spec(task_count=1))
    world.write(10)
    done: list[str] = []

    def reach(place: str) -> None:
        if place == "before:CommitInitialOffsets" and not done:
            done.append(place)
            _forget(world)

    make_pass(TOPIC, replace(world.shell, failpoint=reach), world.leadership.term())

    assert done
    assert committed(world) == {}


def test_a_reset_of_a_supervisor_that_is_forgotten_meanwhile_does_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(store, spec(task_count=1, suspended=True))
    world.write(10)
    done: list[str] = []
    real = world.streams.state

    def look(supervisor_id: str, given: SupervisorSpec) -> StreamState:
        if not done:
            done.append(supervisor_id)
            _forget(world)
        return real(supervisor_id, given)

    monkeypatch.setattr(world.streams, "state", look)
    with pytest.raises(SupervisorNotFound):
        resets(world).reset_offsets(TOPIC, {part(0): 7}, "bob")

    assert done
    assert committed(world) == {}
