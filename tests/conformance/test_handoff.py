"""The handoff record: every move is guarded by (state, sequence), and safe to repeat."""

from datetime import datetime

import pytest

from supervisor.core.model.rows import GenerationState
from supervisor.core.values.errors import StateMoved
from tasks.contract.offsets import OffsetsError
from tests.conformance.stories import (
    CLICKS,
    HOUR,
    MINUTE,
    NOON,
    P0,
    P1,
    Leader,
    end_at,
    opening,
)

READING = GenerationState.READING
PAUSING = GenerationState.PAUSING
PUBLISHING = GenerationState.PUBLISHING


@pytest.fixture
def reading(leader: Leader) -> Leader:
    """Generation g1 reads two partitions."""
    leader.opens(opening("g1", 1, {P0: 0, P1: 10}))
    return leader


def _pause(leader: Leader, sequence: int, now: datetime = NOON, *, must_end: bool = False) -> bool:
    with leader.writes() as tx:
        return tx.generations.begin_handoff(
            "g1", sequence, must_end=must_end, why=f"why {sequence}", now=now
        )


def _resume(leader: Leader, sequence: int, *, restart_timer: bool) -> bool:
    with leader.writes() as tx:
        return tx.generations.resume("g1", sequence, restart_timer=restart_timer, now=NOON + HOUR)


def _fix(leader: Leader, sequence: int, now: datetime = NOON + HOUR) -> bool:
    with leader.writes() as tx:
        return tx.generations.fix_end(end_at("g1", sequence, {P0: 7, P1: 10}), now)


def test_a_pause_is_ordered_once_per_sequence(reading: Leader) -> None:
    assert _pause(reading, 0, NOON + MINUTE, must_end=True)
    assert not _pause(reading, 0, NOON + HOUR)

    found = reading.generation("g1")
    assert (found.state, found.sequence, found.handoff_why) == (PAUSING, 1, "why 0")
    assert (found.paused_at, found.must_end) == (NOON + MINUTE, True)


def test_a_pause_may_be_ordered_again(reading: Leader) -> None:
    """Goal: before the pause leases run out the next order renews them (P13)."""
    _pause(reading, 0, NOON)
    assert _pause(reading, 1, NOON + MINUTE)

    found = reading.generation("g1")
    assert (found.state, found.sequence, found.paused_at) == (PAUSING, 2, NOON + MINUTE)


@pytest.mark.parametrize("restart_timer", [False, True])
def test_resuming_clears_the_handoff(reading: Leader, *, restart_timer: bool) -> None:
    _pause(reading, 0, must_end=True)
    assert _resume(reading, 1, restart_timer=restart_timer)
    assert not _resume(reading, 1, restart_timer=True)

    generation = reading.generation("g1")
    assert (generation.state, generation.sequence, generation.handoff_why) == (READING, 2, "")
    assert (generation.paused_at, generation.must_end) == (None, False)
    assert generation.timer_started_at == (NOON + HOUR if restart_timer else NOON)
    assert generation.opened_at == NOON


def test_only_a_pausing_generation_resumes_or_has_its_end_fixed(reading: Leader) -> None:
    assert not _resume(reading, 0, restart_timer=True)
    assert not _fix(reading, 0)
    assert reading.generation("g1").state is READING


def test_the_end_is_fixed_once(reading: Leader) -> None:
    _pause(reading, 0)
    assert not _fix(reading, 0), "another sequence"
    assert _fix(reading, 1)
    assert not _fix(reading, 1, NOON + 2 * HOUR)
    assert not _fix(reading, 2, NOON + 2 * HOUR)

    found = reading.generation("g1")
    assert (found.state, found.sequence, found.end) == (PUBLISHING, 2, {P0: 7, P1: 10})
    assert (found.end_fixed_at, found.ended_at) == (NOON + HOUR, None)


def test_an_end_of_an_overtaken_order_is_not_fixed(reading: Leader) -> None:
    """Goal: who decided before the pause was ordered again fixes nothing."""
    _pause(reading, 0)
    _pause(reading, 1)

    assert not _fix(reading, 1)
    assert (reading.generation("g1").state, reading.generation("g1").end) == (PAUSING, None)
    assert _fix(reading, 2)


def test_once_its_end_is_fixed_a_generation_neither_pauses_nor_resumes(reading: Leader) -> None:
    _pause(reading, 0)
    _fix(reading, 1)
    assert not _pause(reading, 2)
    assert not _resume(reading, 2, restart_timer=True)
    assert reading.generation("g1").state is PUBLISHING


@pytest.mark.parametrize("end", [{P0: 7}, {P0: 7, P1: 9}], ids=["missing", "before-start"])
def test_an_end_that_does_not_fit_the_start_changes_nothing(
    reading: Leader, end: dict[object, int]
) -> None:
    _pause(reading, 0)
    fixing = end_at("g1", 1, {p: end[p] for p in (P0, P1) if p in end})
    with pytest.raises(OffsetsError), reading.writes() as tx:
        tx.generations.fix_end(fixing, NOON)
    assert (reading.generation("g1").state, reading.generation("g1").end) == (PAUSING, None)


def test_the_successor_opens_in_the_transaction_that_fixes_the_end(reading: Leader) -> None:
    """Goal: no other generation can slip in between (P13)."""
    successor = opening("g2", 2, {P0: 7, P1: 10})
    _pause(reading, 0)
    with reading.writes() as tx:
        with pytest.raises(StateMoved):
            tx.generations.open(CLICKS, "table", successor, NOON)
        assert tx.generations.fix_end(end_at("g1", 1, {P0: 7, P1: 10}), NOON)
        assert tx.generations.open(CLICKS, "table", successor, NOON)

    with reading.reads() as tx:
        live = tx.generations.live(CLICKS)
    assert [(g.id, g.state, g.end) for g in live] == [
        ("g1", PUBLISHING, {P0: 7, P1: 10}),
        ("g2", READING, None),
    ]


@pytest.mark.parametrize(
    ("moves", "allowed"),
    [
        (0, {GenerationState.EMPTY, GenerationState.DISCARDED}),
        (1, {GenerationState.EMPTY, GenerationState.DISCARDED}),
        (2, {GenerationState.PUBLISHED, GenerationState.DISCARDED}),
    ],
    ids=["reading", "pausing", "publishing"],
)
@pytest.mark.parametrize(
    "state", [GenerationState.EMPTY, GenerationState.DISCARDED, GenerationState.PUBLISHED]
)
def test_a_generation_ends_once_and_where_the_diagram_says(
    reading: Leader, moves: int, allowed: set[GenerationState], state: GenerationState
) -> None:
    """Source: the diagram in supervisor/core/model/rows.py."""
    if moves > 0:
        _pause(reading, 0)
    if moves > 1:
        _fix(reading, 1)
    before = reading.generation("g1")

    with reading.writes() as tx:
        closed = tx.generations.close("g1", state, NOON + 2 * HOUR)
    assert closed is (state in allowed)
    if not closed:
        assert reading.generation("g1") == before
        return

    with reading.writes() as tx:
        assert not tx.generations.close("g1", GenerationState.DISCARDED, NOON + 3 * HOUR)
    ended = reading.generation("g1")
    assert (ended.state, ended.ended_at, ended.live) == (state, NOON + 2 * HOUR, False)
    assert (ended.end, ended.sequence) == (before.end, before.sequence)


def test_a_generation_that_is_not_there_does_not_move(leader: Leader) -> None:
    assert not _pause(leader, 0)
    assert not _resume(leader, 0, restart_timer=False)
    assert not _fix(leader, 0)
    with leader.writes() as tx:
        assert not tx.generations.close("g1", GenerationState.DISCARDED, NOON)
