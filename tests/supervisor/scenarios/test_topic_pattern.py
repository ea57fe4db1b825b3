"""A supervisor over every topic that a pattern matches."""

from contextlib import suppress

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import precondition, rule

from supervisor.core.model.rows import GenerationState
from supervisor.core.planning.observed import StreamTrouble
from supervisor.core.planning.placement import layout
from supervisor.core.planning.states import roll_up
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.store import Store
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import MINUTE, TOPIC, spec
from tests.supervisor.scenarios.test_changes import (
    READ,
    active,
    committed,
    live,
    published_all,
    turn,
)
from tests.supervisor.scenarios.test_exactly_once import DURATION, ExactlyOnce, examples
from tests.supervisor.services.supervisors.test_resets import publish_all
from tests.supervisor.world import Crash, World

PARTITIONS_MAX = 8
PATTERN = "clicks(-[a-z]+)?"


def pattern(
    task_count: int = 2,
    replicas: int = 1,
    *,
    earliest: bool = True,
    suspended: bool = False,
    text: str = PATTERN,
) -> SupervisorSpec:
    """The spec of the snapshots over several topics."""
    one = spec(task_count, replicas, duration=DURATION, earliest=earliest, suspended=suspended)
    update = {"topic": None, "topic_pattern": text}
    return one.model_copy(update={"io_config": one.io_config.model_copy(update=update)})


def world_of(store: Store, wanted: SupervisorSpec) -> World:
    """Three topics, of which two match."""
    world = World(store, wanted, 2)
    world.create("clicks-eu", 3)
    world.streams.create("other", 2, "id of other")
    world.streams.create("__clicks-x", 2, "id of an internal one")
    return world


def test_all_matching_topics_are_read_and_no_other(store: Store) -> None:
    """Source: Druid's topicPattern: the whole name has to match."""
    world = world_of(store, pattern(2))
    world.write(READ)
    for _ in range(3):
        turn(world)

    assert {p for g in live(world) for p in g.start} == world.ends.keys()
    groups = layout(world.ends, 2, several_topics=True)
    assert {g.group: set(g.start) for g in live(world)} == {n: set(m) for n, m in groups.items()}
    world.read(READ)
    published_all(world)


def test_all_topics_begin_at_once_and_at_the_latest_if_the_spec_says_so(store: Store) -> None:
    """Goal: a crash in between would leave topics that begin at their earliest instead (P10)."""
    world = world_of(store, pattern(earliest=False))
    world.write(READ)
    world.store.after.add(world.store.calls + 1)  # the plan is stored, then the offsets

    for _ in range(2):
        with suppress(Crash):
            turn(world)

    assert committed(world) == dict.fromkeys(world.ends, READ)


def test_a_topic_that_appears_later_is_read_from_its_earliest_record(store: Store) -> None:
    """Source: Druid's topicPattern: new matching topics are picked up."""
    world = world_of(store, pattern(earliest=False))
    for _ in range(3):
        turn(world)
    world.create("clicks-us", 2)
    world.write(READ)

    for _ in range(6):
        turn(world)
        world.read(READ)

    us = {TopicPartition("clicks-us", n): 0 for n in range(2)}
    assert us.items() <= {p: at for g in live(world) for p, at in g.start.items()}.items()
    world.sync()
    published_all(world)


def test_a_topic_that_appears_disturbs_no_group_that_gets_none_of_it(store: Store) -> None:
    """Goal: the least disturbance."""
    world = world_of(store, pattern(4))
    for _ in range(3):
        turn(world)
    world.write(READ)
    world.read(READ)
    world.sync()
    before = layout(world.ends, 4, several_topics=True)
    quiet = {g.id for g in live(world)}

    world.create("clicks-us", 1)
    after = layout(world.ends, 4, several_topics=True)
    for _ in range(4):
        turn(world)

    same = {n for n in before if before[n] == after.get(n)}
    assert same, "the story needs a group that stays"
    assert {g.group for g in live(world) if g.id in quiet} == same


def test_a_topic_that_vanishes_stops_no_other(store: Store) -> None:
    """Goal: its groups hand off what they have read, without it the others go on."""
    world = world_of(store, pattern(2))
    for _ in range(3):
        turn(world)
    world.write(READ)
    world.read(READ)
    world.sync()

    world.streams.delete("clicks-eu")
    for _ in range(6):
        turn(world)

    open_now = [g for g in live(world) if g.open]
    assert {p.topic for g in open_now for p in g.start} == {TOPIC}
    assert committed(world) == world.ends
    assert {g.state for g in live(world)} == {GenerationState.READING}
    state = roll_up(world.one_pass().seen, None)
    assert (state.healthy, state.detailed) == (False, "TOPIC_GONE")
    assert state.why.startswith("topic clicks-eu does not exist any more")


def test_a_broker_that_does_not_answer_brings_no_topic_back_that_is_gone(store: Store) -> None:
    """Goal: whatever Kafka does not tell for a while, what is open reads on as it is."""
    world = world_of(store, pattern(1))
    world.write(READ)
    for _ in range(3):
        turn(world)
    world.read(READ)
    world.sync()
    world.streams.delete("clicks-eu")
    world.ends = {p: end for p, end in world.ends.items() if p.topic != "clicks-eu"}
    for _ in range(6):
        turn(world)
        publish_all(world)
    [before] = live(world)
    assert set(before.start) == world.ends.keys()

    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer")
    for _ in range(3):
        turn(world)
        publish_all(world)
    world.streams.heal()
    for _ in range(3):
        turn(world)
        publish_all(world)

    assert [(g.id, g.state) for g in live(world)] == [(before.id, GenerationState.READING)]


def test_a_broker_that_does_not_answer_is_no_topic_that_vanishes(store: Store) -> None:
    """Goal: an outage changes no layout."""
    world = world_of(store, pattern(2))
    for _ in range(3):
        turn(world)
    before = active(world)

    world.streams.fail(StreamTrouble.UNREACHABLE, "no answer")
    world.clock.advance(MINUTE)
    for _ in range(3):
        turn(world)

    assert active(world) == before


class SeveralTopics(ExactlyOnce):
    """Whatever happens, in whatever order, over topics and partitions that come meanwhile."""

    def wanted(
        self, task_count: int, replicas: int = 1, *, suspended: bool = False
    ) -> SupervisorSpec:
        """The same story over a pattern."""
        return pattern(task_count, replicas, suspended=suspended)

    @precondition(lambda self: len(self.world.ends) < PARTITIONS_MAX)
    @rule(topic=st.sampled_from(["clicks-a", "clicks-b"]), partitions=st.integers(1, 2))
    def a_topic_appears_or_grows(self, topic: str, partitions: int) -> None:
        if any(p.topic == topic for p in self.world.ends):
            self.world.add_partitions(topic, partitions)
        else:
            self.world.create(topic, partitions)


TestSeveralTopics = SeveralTopics.TestCase
# The same story as `ExactlyOnce`, which is told in full over one topic.
TestSeveralTopics.settings = settings(max_examples=examples(5, least=10))
