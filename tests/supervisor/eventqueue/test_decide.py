"""What a look means and what answers lead to: each case as a table row."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.core.queue.events import (
    Damage,
    QueueConfig,
    QueuedEvent,
    QueueMode,
    QueueName,
    QueueRow,
    StoredEvent,
    checksum,
    encode,
)
from supervisor.eventqueue.decide import (
    Ahead,
    Batch,
    Idle,
    Undecodable,
    WrongAnswers,
    backoff,
    looked_at,
    next_batch,
    settle,
)
from supervisor.eventqueue.handling import EventDone, Fail, Later, Retry
from tests.supervisor.core.snapshots import NOON

SECOND = timedelta(seconds=1)
CONFIG = QueueConfig(max_items_at_once=3)


def stored(seq: int, payload: bytes | None = None, due_at: datetime = NOON) -> StoredEvent:
    written = encode(QueuedEvent("count", str(seq))) if payload is None else payload
    return StoredEvent(
        seq, 1, len(written), checksum(seq, written), str(seq), written, due_at, NOON
    )


def row(next_seq: int, processed_seq: int = 0, *, waiting: int = 1_000) -> QueueRow:
    return QueueRow(
        1,
        QueueName("cluster", "work"),
        QueueMode.CONSUMER,
        next_seq=next_seq,
        enqueued_bytes=10_000 + waiting,
        processed_seq=processed_seq,
        processed_bytes=10_000,
    )


def keys(look: object) -> list[str]:
    assert isinstance(look, Batch)
    return [event.key for event in look.events]


def test_a_batch_has_at_most_so_many_events() -> None:
    read = [stored(seq) for seq in (5, 6, 7, 8)]
    assert keys(next_batch(row(9, 4), read, CONFIG, NOON)) == ["5", "6", "7"]


def test_nothing_there_waits_for_a_word() -> None:
    assert next_batch(row(5, 4, waiting=0), [], CONFIG, NOON) == Idle(None)


def test_a_batch_ends_before_the_first_event_that_is_not_due() -> None:
    """Goal: order of sequence is order of handling, whatever is due behind it."""
    read = [stored(1), stored(2, due_at=NOON + SECOND), stored(3)]
    assert keys(next_batch(row(4), read, CONFIG, NOON)) == ["1"]


def test_a_head_that_is_not_due_says_when() -> None:
    read = [stored(1, due_at=NOON + SECOND), stored(2)]
    assert next_batch(row(3), read, CONFIG, NOON) == Idle(NOON + SECOND)


@pytest.mark.parametrize("behind", [timedelta(hours=1), timedelta(days=1)], ids=str)
def test_what_a_clock_ahead_has_put_off_waits_anew_by_ours(behind: timedelta) -> None:
    """Goal: a wait is as long as was meant, never longer by what the clocks differ.  Source: H1."""
    put_off = [stored(seq, due_at=NOON + SECOND) for seq in (1, 2)]
    now = NOON - behind

    look = next_batch(row(4), [*put_off, stored(3, due_at=NOON)], CONFIG, now)

    assert isinstance(look, Ahead)
    assert [event.key for event in look.events] == ["1", "2"]
    assert looked_at(NOON, NOON + SECOND, now) == now


@pytest.mark.parametrize("behind", [timedelta(hours=1), timedelta(days=1)], ids=str)
def test_what_is_not_to_wait_is_due_whatever_the_clocks_say(behind: timedelta) -> None:
    read = [stored(1), stored(2), stored(3, due_at=NOON + SECOND)]
    assert keys(next_batch(row(4), read, CONFIG, NOON - behind)) == ["1", "2"]


def test_a_wait_goes_on_if_the_clocks_differ_by_less_than_a_tenth_of_it() -> None:
    due_at, now = NOON + 60 * SECOND, NOON - 5 * SECOND
    assert next_batch(row(2), [stored(1, due_at=due_at)], CONFIG, now) == Idle(due_at)
    assert looked_at(NOON, due_at, now) == due_at


def test_a_batch_stays_within_the_window_and_has_one_event_at_least() -> None:
    read = [stored(seq) for seq in (1, 2, 3)]
    two = QueueConfig(read_window_bytes=2 * read[0].size_bytes)
    assert keys(next_batch(row(4), read, two, NOON)) == ["1", "2"]
    tiny = QueueConfig(read_window_bytes=1)
    assert keys(next_batch(row(4), read, tiny, NOON)) == ["1"]


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b'{"v":2}', b'{"v":1,"kind":"x"}', b"\xff"])
def test_an_event_that_cannot_be_read_waits_until_it_is_the_head(payload: bytes) -> None:
    read = [stored(1), stored(2, payload), stored(3)]
    assert keys(next_batch(row(4), read, CONFIG, NOON)) == ["1"]
    look = next_batch(row(4, 1), read[1:], CONFIG, NOON)
    assert isinstance(look, Undecodable)
    assert look.stored == read[1]


def _with(event: StoredEvent, **changes: object) -> StoredEvent:
    return StoredEvent(**{**vars(event), **changes})


@pytest.mark.parametrize(
    ("read", "at", "of"),
    [
        ([_with(stored(1), payload=b"other")], row(2), 1),
        ([_with(stored(1), checksum=0)], row(2), 1),
        ([_with(stored(1), size_bytes=1)], row(2), 1),
        ([stored(1), _with(stored(2), checksum=0)], row(3), 2),
        ([stored(2)], row(3), 1),
        ([stored(1), stored(3)], row(4), 2),
        ([], row(2), 1),
        ([stored(1)], row(1), 1),
        ([_with(stored(2), seq=1)], row(2), 1),
    ],
    ids=[
        "another payload",
        "another checksum",
        "another length",
        "the second event",
        "the first is missing",
        "one in the middle is missing",
        "all are missing",
        "never counted as added",
        "it stood elsewhere",
    ],
)
def test_rows_that_are_not_what_was_written_are_damage_and_nothing_is_handled(
    read: list[StoredEvent], at: QueueRow, of: int
) -> None:
    """Goal: no event is handled out of a queue that has lost or changed one."""
    look = next_batch(at, read, CONFIG, NOON)
    assert isinstance(look, Damage)
    assert look.seq == of


def test_counters_that_cannot_be_are_damage() -> None:
    assert isinstance(next_batch(row(3, 5), [], CONFIG, NOON), Damage)
    assert isinstance(next_batch(row(3, 2, waiting=-1), [], CONFIG, NOON), Damage)
    cut = QueueRow(1, QueueName("a", "b"), QueueMode.CONSUMER, next_seq=9, truncated_seq=3)
    assert isinstance(next_batch(cut, [], CONFIG, NOON), Damage)


@given(
    change=st.integers(min_value=0),
    bit=st.integers(min_value=0, max_value=7),
    seq=st.integers(min_value=1, max_value=1 << 40),
)
def test_any_flipped_bit_of_a_payload_is_found(change: int, bit: int, seq: int) -> None:
    sound = stored(seq)
    at = change % len(sound.payload)
    flipped = bytearray(sound.payload)
    flipped[at] ^= 1 << bit
    damaged = _with(sound, payload=bytes(flipped))
    look = next_batch(row(seq + 1, seq - 1), [damaged], CONFIG, NOON)
    assert isinstance(look, Damage)


# -------------------------------------------------------------- answers


def batch(*attempts: int) -> Batch:
    events = tuple(QueuedEvent("count", str(n), {}, tries) for n, tries in enumerate(attempts, 1))
    return Batch(tuple(stored(n, encode(e)) for n, e in enumerate(events, 1)), events)


def test_done_moves_the_position_behind_the_batch() -> None:
    handled = batch(0, 0)
    settled = settle(row(9), handled, [EventDone(), EventDone()], CONFIG)
    assert settled.processed_seq == 2
    assert settled.processed_bytes == 10_000 + sum(s.size_bytes for s in handled.stored)
    assert not settled.again
    assert not settled.set_aside


def test_a_retry_counts_and_the_last_one_is_set_aside() -> None:
    settled = settle(row(9), batch(0, 1, 2), [Retry("no")] * 3, QueueConfig(max_attempts=3))
    assert [event.attempts for event in settled.again] == [1, 2]
    [given_up] = settled.set_aside
    assert (given_up.stored.seq, given_up.attempts) == (3, 3)
    assert given_up.reason == "no (tried 3 times)"


def test_later_does_not_count_and_may_say_something_new() -> None:
    settled = settle(row(9), batch(2), [Later({"look": "second"}, "why")], CONFIG)
    assert settled.again == (QueuedEvent("count", "1", {"look": "second"}, 2),)


def test_fail_is_set_aside_at_once() -> None:
    settled = settle(row(9), batch(0), [Fail("never")], CONFIG)
    assert [each.reason for each in settled.set_aside] == ["never"]


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_answers_of_another_number_settle_nothing(answers: int) -> None:
    with pytest.raises(WrongAnswers):
        settle(row(9), batch(0, 0), [EventDone()] * answers, CONFIG)


def test_the_wait_doubles_up_to_its_cap() -> None:
    config = QueueConfig(iteration_delay=SECOND, backoff_cap=5 * SECOND)
    waits = [backoff(failures, config).total_seconds() for failures in (1, 2, 3, 4, 5_000)]
    assert waits == [1, 2, 4, 5, 5]
