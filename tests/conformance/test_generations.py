"""Generations: opened once, held by one, found by the questions that a pass asks."""

import pytest

from supervisor.core.model.rows import Generation, GenerationState
from supervisor.core.values.errors import StateMoved
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    NOON,
    P0,
    P1,
    P2,
    Leader,
    end_at,
    opening,
)

DISCARDED = GenerationState.DISCARDED


def test_a_generation_is_read_back_as_it_was_opened(leader: Leader) -> None:
    assert leader.opens(opening("g1", 7, {P1: 2**40, P0: 3}))

    assert leader.generation("g1") == Generation(
        "g1",
        CLICKS,
        "table",
        7,
        layout_version=1,
        task_count=1,
        partition_count=2,
        group=0,
        spec_version=1,
        state=GenerationState.READING,
        start={P0: 3, P1: 2**40},
        end=None,
        opened_at=NOON,
        timer_started_at=NOON,
    )


def test_a_generation_opened_twice_is_opened_once(leader: Leader) -> None:
    """Goal: a pass that crashed runs again, and its second insert changes nothing."""
    assert leader.opens(opening("g1", 1, {P0: 7}))
    assert not leader.opens(opening("g1", 2, {P0: 8}), NOON + HOUR)

    found = leader.generation("g1")
    assert (found.ordinal, found.start, found.opened_at) == (1, {P0: 7}, NOON)


def test_an_ended_generation_is_not_opened_again(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 7}))
    with leader.writes() as tx:
        tx.generations.close("g1", DISCARDED, NOON)
    assert not leader.opens(opening("g1", 1, {P0: 7}))
    assert leader.generation("g1").state is DISCARDED


def test_an_open_generation_holds_its_partitions_alone(leader: Leader) -> None:
    """Goal: nothing is left of the refused one, even if its transaction goes on."""
    leader.opens(opening("g1", 1, {P0: 0, P1: 0}))
    with leader.writes() as tx:
        with pytest.raises(StateMoved):
            tx.generations.open(CLICKS, "table", opening("g2", 2, {P1: 5, P2: 0}), NOON)
        assert tx.generations.get("g2") is None
        assert tx.generations.open(CLICKS, "table", opening("g3", 3, {P2: 0}), NOON)

    with leader.reads() as tx:
        assert [g.id for g in tx.generations.live(CLICKS)] == ["g1", "g3"]


def test_two_supervisors_may_hold_the_same_partition(leader: Leader) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        assert tx.generations.open("other", "table", opening("g2", 1, {P0: 0}), NOON)


@pytest.mark.parametrize("pausing", [False, True])
def test_a_discarded_generation_frees_its_partitions(leader: Leader, *, pausing: bool) -> None:
    leader.opens(opening("g1", 1, {P0: 0}))
    with leader.writes() as tx:
        if pausing:
            tx.generations.begin_handoff("g1", 0, must_end=True, why="reset", now=NOON)
        assert tx.generations.close("g1", DISCARDED, NOON + HOUR)
        assert tx.generations.open(CLICKS, "table", opening("g2", 2, {P0: 0}), NOON)

    ended = leader.generation("g1")
    assert (ended.state, ended.ended_at, ended.end) == (DISCARDED, NOON + HOUR, None)


def test_live_generations_come_by_supervisor_and_ordinal(leader: Leader) -> None:
    with leader.writes() as tx:
        for supervisor_id, ordinal, partition in (("b", 1, P0), ("a", 10, P0), ("a", 9, P1)):
            action = opening(f"{supervisor_id}{ordinal}", ordinal, {partition: 0})
            tx.generations.open(supervisor_id, "table", action, NOON)
        tx.generations.open("a", "table", opening("a8", 8, {P2: 0}), NOON)
        tx.generations.close("a8", GenerationState.EMPTY, NOON)

    with leader.reads() as tx:
        assert [g.id for g in tx.generations.live()] == ["a9", "a10", "b1"]
        assert [g.id for g in tx.generations.live("a")] == ["a9", "a10"]
        assert [g.start for g in tx.generations.live("a")] == [{P1: 0}, {P0: 0}]
        assert tx.generations.live("never") == []


def test_the_newest_has_the_highest_ordinal_whatever_its_state(leader: Leader) -> None:
    for ordinal in (9, 10):
        leader.opens(opening(f"g{ordinal}", ordinal, {P0: ordinal}))
        with leader.writes() as tx:
            tx.generations.close(f"g{ordinal}", DISCARDED, NOON)
    leader.opens(opening("g8", 8, {P0: 0}))

    with leader.reads() as tx:
        newest = tx.generations.newest(CLICKS)
        assert newest is not None
        assert (newest.id, newest.start) == ("g10", {P0: 10})
        assert tx.generations.newest("never") is None


def test_recent_ones_have_ended_and_come_newest_first(leader: Leader) -> None:
    for ordinal in (9, 10, 11):
        leader.opens(opening(f"g{ordinal}", ordinal, {P0: ordinal}))
        if ordinal < 11:
            with leader.writes() as tx:
                tx.generations.close(f"g{ordinal}", DISCARDED, NOON)

    with leader.reads() as tx:
        assert [g.id for g in tx.generations.recent(CLICKS, 5)] == ["g10", "g9"]
        assert [g.start for g in tx.generations.recent(CLICKS, 1)] == [{P0: 10}]


def test_predecessors_are_earlier_live_and_share_a_partition(leader: Leader) -> None:
    """Goal: rule P8: a generation publishes when these have."""
    with leader.writes() as tx:
        for ordinal, start in ((1, {P0: 0, P1: 0}), (2, {P2: 0})):
            tx.generations.open(CLICKS, "table", opening(f"g{ordinal}", ordinal, start), NOON)
            tx.generations.begin_handoff(f"g{ordinal}", 0, must_end=False, why="", now=NOON)
            end = dict.fromkeys(start, 5)
            tx.generations.fix_end(end_at(f"g{ordinal}", 1, end), NOON)
        tx.generations.open(CLICKS, "table", opening("g3", 3, {P1: 5}), NOON)
        tx.generations.open(CLICKS, "table", opening("g4", 4, {P0: 5, P2: 5}), NOON)

    def before(generation_id: str) -> list[str]:
        generation = leader.generation(generation_id)
        with leader.reads() as tx:
            return [g.id for g in tx.generations.predecessors(generation)]

    with leader.reads() as tx:
        [first] = tx.generations.predecessors(leader.generation("g3"))
    assert first == leader.generation("g1"), "whole, not the shared partitions alone"
    assert [before(f"g{n}") for n in (1, 2, 3, 4)] == [[], [], ["g1"], ["g1", "g2"]]
    with leader.writes() as tx:
        tx.generations.close("g1", GenerationState.PUBLISHED, NOON)
    assert [before(f"g{n}") for n in (3, 4)] == [[], ["g2"]]


def test_many_are_found_by_their_ids_in_whatever_state(leader: Leader) -> None:
    for number in (1, 2, 3):
        leader.opens(opening(f"g{number}", number, {P0: number, P1: 0}))
        with leader.writes() as tx:
            tx.generations.close(f"g{number}", DISCARDED, NOON)

    with leader.reads() as tx:
        found = tx.generations.rows_of(["g3", "never", "g1", "g3", *map(str, range(1_200))])
        assert tx.generations.rows_of([]) == {}
    assert found == {"g1": leader.generation("g1"), "g3": leader.generation("g3")}
