"""A handoff that is asked for: begun by the next pass, counted out again when it is fulfilled."""

import pytest

from supervisor.control.loop import Loop
from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.values.errors import LeaseLost, SupervisorNotFound, UnknownGroups
from supervisor.ports.store import Store
from supervisor.services.supervisors.handoff import HandoffRequests
from tests.sqlite_memory import SqliteInMemory
from tests.supervisor.core.snapshots import TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import committed
from tests.supervisor.world import World

RECORDS = 5


def reading(store: Store, records: int = RECORDS) -> World:
    """Two groups that have read something, long before they are due."""
    world = World(store, spec(task_count=2, stop_task_count=1))
    world.settle()
    world.sync()
    world.write(records)
    world.read(records)
    world.sync()
    world.settle()
    return world


def verb(world: World) -> HandoffRequests:
    loop = Loop(lambda _: None, world.clock, threads=1)  # never started
    return HandoffRequests(world.store, world.clock, world.leadership, loop)


def live(world: World) -> list[Generation]:
    with world.store.reading() as tx:
        return tx.generations.live(TOPIC)


def turn(world: World) -> None:
    world.settle()
    world.sync()
    world.settle()
    world.sync()
    for hand, replica in world.ready_to_publish():
        world.publish(hand, replica)
    assert_promises(world.store)


def test_all_groups_publish_what_they_have_read_at_once(store: Store) -> None:
    """Goal: publish now, whatever stopTaskCount and taskDuration say."""
    world = reading(store)

    ids = verb(world).ask(TOPIC, None, "me")
    turn(world)

    assert ids == ("clicks:1", "clicks:2")
    assert committed(world) == {RECORDS}
    assert [(g.state, g.handoff_request) for g in live(world)] == [
        (GenerationState.READING, "")
    ] * 2


def test_a_group_that_has_read_nothing_reads_on_and_is_not_asked_again(store: Store) -> None:
    """Goal: a wish is fulfilled once: no pause after pause."""
    world = reading(store, records=0)
    before = [g.id for g in live(world)]

    verb(world).ask(TOPIC, [0, 1], "me")
    turn(world)
    orders = [g.sequence for g in live(world)]
    turn(world)

    assert [g.id for g in live(world)] == before
    assert [(g.handoff_request, g.sequence) for g in live(world)] == [("", n) for n in orders]
    assert committed(world) == {0}


def test_a_wish_outlives_the_leader_that_took_it(store: Store) -> None:
    """Goal: what was answered 202 is done, whoever leads then."""
    world = reading(store)
    verb(world).ask(TOPIC, [0], "me")
    world.take_over()

    turn(world)

    with world.store.reading() as tx:
        assert [p.generation_id for p in tx.segments.publications(TOPIC)] == ["clicks:1"]


def test_only_who_reads_is_asked_and_all_is_on_record() -> None:
    """Goal: a group that hands off already is left alone; the audit log names the author."""
    world = reading(SqliteInMemory())
    verb(world).ask(TOPIC, [0], "me")
    world.settle()

    again = verb(world).ask(TOPIC, [0, 1], "you")

    assert again == ("clicks:2",)
    with world.store.reading() as tx:
        entries = [e for e in tx.audit.recent(9) if e.action == "ask-handoff"]
    assert [(e.actor, e.subject) for e in entries] == [("you", TOPIC), ("me", TOPIC)]
    assert entries[0].detail == {"groups": "0, 1", "asked": "clicks:2"}


def test_an_unknown_group_asks_for_nothing() -> None:
    world = reading(SqliteInMemory())

    with pytest.raises(UnknownGroups, match=r"no task group 2, 9; its groups are: 0, 1") as refused:
        verb(world).ask(TOPIC, [0, 9, 2], "me")

    assert refused.value.known == (0, 1)
    assert [g.handoff_request for g in live(world)] == ["", ""]


def test_a_terminated_supervisor_hands_off_anyway() -> None:
    world = reading(SqliteInMemory())
    world.set_spec(None)

    for name in (TOPIC, "never"):
        with pytest.raises(SupervisorNotFound):
            verb(world).ask(name, None, "me")


def test_a_deposed_leader_asks_for_nothing() -> None:
    """Goal: one leader writes (P1)."""
    world = reading(SqliteInMemory())
    world.leadership.stop()

    with pytest.raises(LeaseLost):
        verb(world).ask(TOPIC, None, "me")

    assert [g.handoff_request for g in live(world)] == ["", ""]
