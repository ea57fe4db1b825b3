"""Which partitions a group has, and which worker a replica goes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.placement import Slots, layout, too_few_slots
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import part, worker


def test_partition_p_belongs_to_group_p_modulo_task_count() -> None:
    assert layout([part(n) for n in (4, 1, 3, 0, 2)], 2) == {
        0: (part(0), part(2), part(4)),
        1: (part(1), part(3)),
    }


def test_a_topic_without_known_partitions_has_no_groups() -> None:
    assert layout([], 3) == {}


@given(numbers=st.integers(1, 40), task_count=st.integers(1, 60))
def test_every_partition_is_in_exactly_one_group_and_no_group_is_empty(
    numbers: int, task_count: int
) -> None:
    partitions = [part(n) for n in range(numbers)]

    groups = layout(partitions, task_count)

    assert sorted(p for members in groups.values() for p in members) == partitions
    assert list(groups) == list(range(min(numbers, task_count)))
    assert max(map(len, groups.values())) - min(map(len, groups.values())) <= 1


@pytest.mark.parametrize(
    ("topic", "partition", "group"),
    [("", 0, 0), ("a", 0, 4), ("orders", 2, 4), ("orders-eu", 0, 0), ("polygenelubricants", 1, 1)],
)
def test_with_several_topics_a_topics_hash_spreads_its_partitions_as_druid_does(
    topic: str, partition: int, group: int
) -> None:
    """Source: Druid's KafkaSupervisor; Java's String.hashCode in 32 bits, then Math.abs."""
    wanted = TopicPartition(topic, partition)
    others = [TopicPartition("other", number) for number in range(6)]

    groups = layout([wanted, *others], 7, several_topics=True)

    assert wanted in groups[group]


@given(
    sizes=st.dictionaries(st.sampled_from(["a", "orders", "orders-eu", "x.y"]), st.integers(1, 9)),
    task_count=st.integers(1, 40),
)
def test_several_topics_are_in_groups_once_each_and_none_is_empty(
    sizes: dict[str, int], task_count: int
) -> None:
    partitions = [TopicPartition(topic, n) for topic, size in sizes.items() for n in range(size)]

    groups = layout(partitions, task_count, several_topics=True)

    assert sorted(p for members in groups.values() for p in members) == sorted(partitions)
    assert all(groups.values())
    assert len(groups) <= min(task_count, len(partitions))


def test_a_replica_goes_where_most_slots_are_free() -> None:
    """Goal: load is spread."""
    slots = Slots([worker("w1", slots=4, used=3), worker("w2", slots=4, used=1)])

    taken = [slots.take((), needs_slot=True) for _ in range(4)]

    assert [w.id for w in taken if w is not None] == ["w2", "w2", "w2", "w1"]
    assert slots.take((), needs_slot=True) is None
    assert slots.free == 0


def test_a_sibling_waits_for_another_worker_unless_there_is_only_one() -> None:
    """Goal: one lost worker never takes both replicas; a lone worker takes both."""
    full = Slots([worker("w1"), worker("w2", slots=1, used=1)])
    alone = Slots([worker("w1")])

    assert full.take({"w1"}, needs_slot=True) is None
    chosen = alone.take({"w1"}, needs_slot=True)
    assert chosen is not None
    assert chosen.id == "w1"


def test_only_a_worker_that_is_heard_of_and_stays_gets_tasks() -> None:
    slots = Slots(
        [
            worker("silent", liveness=Liveness.UNKNOWN),
            worker("lost", liveness=Liveness.LOST),
            worker("going", stopping=True),
        ]
    )

    assert slots.free == 0
    assert slots.take((), needs_slot=False) is None


def test_a_replica_that_finishes_needs_no_slot_and_takes_none() -> None:
    """Goal: what is fixed is published even on full workers (P15)."""
    slots = Slots([worker("w1", slots=1, used=1)])

    assert slots.take((), needs_slot=True) is None
    assert slots.take((), needs_slot=False) is not None
    assert slots.free == 0


def test_a_worker_that_lost_slots_has_none_free() -> None:
    """Goal: a worker that was restarted with fewer slots counts as full, not below zero."""
    assert Slots([worker("w1", slots=1, used=3), worker("w2", slots=2)]).free == 2


@pytest.mark.parametrize(
    ("groups", "replicas", "slots", "words"),
    [
        (2, 2, 4, ""),
        (0, 2, 0, ""),
        (6, 1, 4, "6 task groups need 6 slots, and workers have 4 for it: nobody reads 2 of them"),
        (
            2,
            2,
            3,
            "2 task groups x 2 replicas need 4 slots, and workers have 3 for it: 1 replica of",
        ),
        (1, 1, 0, "1 task group needs 1 slot, and workers have 0 for it: nobody reads it"),
    ],
)
def test_slots_that_are_too_few_are_counted(
    groups: int, replicas: int, slots: int, words: str
) -> None:
    few = too_few_slots(groups, replicas, slots)

    assert few.startswith(words)
    assert bool(few) == bool(words)
