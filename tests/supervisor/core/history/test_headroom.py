"""Retention headroom, from the moves of the earliest offset."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.history.headroom import (
    HEADROOM_MAX,
    MOVED_ONCE,
    MOVES_KEPT,
    NEVER_MOVED,
    NOTHING_UNREAD,
    EarliestHistory,
    EarliestMoves,
    headroom,
    with_earliest,
)
from tasks.contract.offsets import TopicPartition
from tests.supervisor.core.snapshots import NOON

P = TopicPartition("clicks", 0)
MINUTE = timedelta(minutes=1)


def looked(
    history: EarliestHistory, minute: int, earliest: int, topic_id: str = "id-1"
) -> EarliestHistory:
    """The history after one more look."""
    return with_earliest(history, NOON + minute * MINUTE, {P: earliest}, {P.topic: topic_id})


def watched(*looks: tuple[int, int]) -> EarliestMoves:
    """What looks at (minute, earliest offset) leave behind."""
    history = EarliestHistory()
    for minute, earliest in looks:
        history = looked(history, minute, earliest)
    return history.moves[P]


def test_the_time_left_is_what_the_slope_needs_for_the_records_left() -> None:
    known = watched((0, 0), (1, 100), (2, 200), (3, 300))

    room = headroom(known, 1_300, 5_000, NOON + 3 * MINUTE)

    assert (room.records, room.left, room.why) == (1_000, 10 * MINUTE, "")


def test_time_that_has_passed_since_the_last_move_is_gone() -> None:
    """Goal: a segment that is deleted each hour is not an hour away for ever."""
    known = watched((0, 0), (60, 1_000), (120, 2_000))

    at_once = headroom(known, 5_000, 9_000, NOON + 120 * MINUTE)
    later = headroom(known, 5_000, 9_000, NOON + 150 * MINUTE)

    assert at_once.left == 180 * MINUTE
    assert later.left == 150 * MINUTE


def test_the_jump_before_the_first_one_counts_for_nothing() -> None:
    """Fault: a leader that began just before a day's segment went took a day for a minute."""
    known = watched((0, 0), (1, 86_400))
    assert headroom(known, 90_000, 99_000, NOON + MINUTE).why == MOVED_ONCE

    known = watched((0, 0), (1, 86_400), (1_441, 172_800))
    room = headroom(known, 259_200, 300_000, NOON + 1_441 * MINUTE)

    assert room.left == 1_440 * MINUTE


def test_what_is_not_known_has_a_reason_and_no_number() -> None:
    still = headroom(watched((0, 50), (9, 50)), 80, 90, NOON + 9 * MINUTE)
    assert (still.records, still.left, still.why) == (30, None, NEVER_MOVED)

    published = headroom(watched((0, 0), (1, 10), (2, 20)), 90, 90, NOON + 2 * MINUTE)
    assert (published.records, published.left, published.why) == (70, None, NOTHING_UNREAD)

    ended = headroom(watched((0, 0), (1, 10), (2, 20)), 80, 90, NOON + 5 * MINUTE)
    assert ended.left is None
    assert "0:03:00" in ended.why


def test_what_retention_has_reached_is_zero_and_tells_what_is_lost() -> None:
    room = headroom(watched((0, 0), (1, 120)), 100, 200, NOON + MINUTE)
    assert (room.records, room.left) == (-20, timedelta(0))


def test_a_topic_that_is_read_from_its_begin_is_at_risk_only_once_retention_moves() -> None:
    """Goal: a new supervisor of a new topic is no alarm."""
    assert headroom(watched((0, 0)), 0, 200, NOON).why == NEVER_MOVED
    moving = watched((0, 0), (1, 10), (2, 20))
    assert headroom(moving, 20, 200, NOON + 2 * MINUTE).left == timedelta(0)


def test_a_log_that_begins_anew_forgets_how_the_old_one_moved() -> None:
    assert watched((0, 0), (1, 10), (2, 20), (3, 5)) == EarliestMoves(5)


def test_a_topic_that_was_made_anew_forgets_how_the_old_one_moved() -> None:
    """Fault: if the new log had begun later than the old one, one slope was measured in both."""
    before = looked(looked(EarliestHistory(), 0, 0), 1, 10)

    after = looked(before, 2, 500, "id-2")

    assert after.moves[P] == EarliestMoves(500)
    assert looked(before, 2, 500).moves[P].moves[-1] == (NOON + 2 * MINUTE, 500)


def test_an_old_look_and_the_same_look_change_nothing() -> None:
    """Fault: a reader whose look was older than the last pass's saw a history begin anew."""
    known = looked(looked(EarliestHistory(), 0, 0), 2, 10)
    for minute, earliest in ((2, 10), (1, 12), (1, 0)):
        assert looked(known, minute, earliest) == known
    assert looked(known, 5, 10).moves == known.moves


def test_a_partition_that_a_look_does_not_see_is_forgotten() -> None:
    known = looked(EarliestHistory(), 0, 0)
    assert with_earliest(known, NOON + MINUTE, {}, {P.topic: "id-1"}).moves == {}


def test_a_far_end_is_no_overflow() -> None:
    known = watched((0, 0), (1, 1), (2, 2))
    room = headroom(known, 2**62, 2**63 - 1, NOON + 2 * MINUTE)
    assert room.left == HEADROOM_MAX


_LOOKS = st.lists(st.tuples(st.integers(1, 600), st.integers(0, 10**6)), min_size=1, max_size=40)


@given(_LOOKS, st.integers(0, 10**8), st.integers(0, 10**4))
def test_the_time_is_known_or_has_a_reason_and_never_below_zero(
    steps: list[tuple[int, int]], committed: int, later: int
) -> None:
    minute, offset, looks = 0, 0, [(0, 0)]
    for pause, grown in steps:
        minute, offset = minute + pause, offset + grown
        looks.append((minute, offset))
    known = watched(*looks)

    room = headroom(known, committed, 10**8 + 1, NOON + (minute + later) * MINUTE)

    assert len(known.moves) <= MOVES_KEPT
    assert room.records == committed - offset
    assert (room.left is None) == bool(room.why)
    if room.left is not None:
        assert timedelta(0) <= room.left <= HEADROOM_MAX
    if committed < offset:
        assert room.left == timedelta(0)


@given(st.integers(1, 10**5), st.integers(2, 30), st.integers(1, 10**6))
def test_an_even_retention_is_foreseen_exactly(rate: int, moves: int, records: int) -> None:
    """Goal: the moment that is told is the one at which retention comes there."""
    known = watched(*((n, n * rate) for n in range(moves + 1)))
    at = NOON + moves * MINUTE
    committed = moves * rate + records

    room = headroom(known, committed, committed + 1, at)

    assert room.left is not None
    if room.left < HEADROOM_MAX:
        seen_then = moves * rate + room.left / MINUTE * rate
        assert abs(seen_then - committed) <= rate * 1e-4 + 1e-3
