"""What every store of logs promises, in memory, in segment files and in a database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor.adapters.reports.logs.chunk_cuts import CHUNK_BYTES_MAX
from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.logs import LogQuery, LogStore, StoredChunk
from supervisor.ports.store_problems import ContentRefused
from supervisor.reports.incoming import parts_of
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.conformance.reports.log_chunks import (
    DAY,
    EVERYTHING,
    HOUR,
    NOON,
    SECOND,
    TASK,
    chunk,
    cut,
    line,
    log_of,
    text_of,
    whole,
)
from tests.conformance.reports.log_stores import LogStores

STORED, CONFLICT, MISMATCH = StoreOutcome.STORED, StoreOutcome.CONFLICT, StoreOutcome.MISMATCH
SUBJECTS = count()
"""Each example of a property has a log of its own."""


def test_the_first_write_wins_and_a_repeat_is_a_conflict(log_store: LogStore) -> None:
    first, second = chunk(b"one\n"), chunk(b"two\n", 4)
    assert list(log_store.put_many([first])) == [STORED]
    other = replace(first, content=b"eno\n")
    assert list(log_store.put_many([second, first, other])) == [STORED, CONFLICT, MISMATCH]
    assert text_of(log_store) == b"one\ntwo\n"


def test_of_equal_ids_in_one_call_the_first_is_stored(log_store: LogStore) -> None:
    first = chunk(b"one\n")
    assert list(log_store.put_many([first, first, first])) == [STORED, CONFLICT, CONFLICT]
    assert list(log_store.put_many([])) == []
    assert text_of(log_store) == b"one\n"


def test_one_chunk_that_is_refused_takes_its_batch_along(log_store: LogStore) -> None:
    good = chunk(b"one\n")
    bad = [
        replace(chunk(b"", 4), content=bytes(CHUNK_BYTES_MAX + 1)),
        chunk(b"x", subject="a\0b"),
        chunk(b"x", subject="a\ud800"),
        replace(chunk(b"x", 4), offset=-1),
        replace(chunk(b"x", 4), attempt=2**63),
        replace(chunk(b"x", 4), record_id="x" * 300),
    ]
    for each in bad:
        with pytest.raises(ContentRefused):
            log_store.put_many([good, each])
    assert log_store.span(TASK, 0) is None
    assert list(log_store.put_many([good])) == [STORED]


def test_a_sender_that_sends_more_under_the_same_id_loses_no_byte(log_store: LogStore) -> None:
    """A sender that restarts reads its file on, and sends more bytes from the same offset."""
    log_store.put_many([chunk(b"one\n")])
    longer = chunk(b"one\ntwo\n")
    assert list(log_store.put_many([longer, longer])) == [STORED, CONFLICT]
    longest = chunk(b"one\ntwo\nthree\n", ends=True)
    assert list(log_store.put_many([longest])) == [STORED]
    assert list(log_store.put_many([longest, chunk(b"one\n")])) == [CONFLICT, CONFLICT]
    assert text_of(log_store) == longest.content
    assert is_whole(log_store)


def test_more_bytes_that_contradict_what_is_stored_are_a_mismatch(log_store: LogStore) -> None:
    log_store.put_many([chunk(b"one\ntwo\n")])
    others = [chunk(b"eno\ntwo\nthree\n"), chunk(b"eno\n")]
    assert list(log_store.put_many(others)) == [MISMATCH, MISMATCH]
    assert text_of(log_store) == b"one\ntwo\n"


def test_the_end_of_a_log_may_be_heard_of_later(log_store: LogStore) -> None:
    log_store.put_many([chunk(b"one\n")])
    assert not is_whole(log_store)
    ended = chunk(b"one\n", ends=True)
    assert list(log_store.put_many([ended, ended])) == [STORED, CONFLICT]
    assert is_whole(log_store)
    # A log that goes on behind its end is kept all the same.
    assert (
        list(log_store.put_many([chunk(b"one\ntwo\n"), chunk(b"", 4, ends=True)])) == [STORED] * 2
    )
    assert text_of(log_store) == b"one\ntwo\n"


def is_whole(log_store: LogStore) -> bool:
    """Whether the store has all of the log."""
    span = log_store.span(TASK, 0)
    assert span is not None
    return span.is_whole


def test_a_span_says_how_far_a_log_is_stored_and_how_it_is_going_on(log_store: LogStore) -> None:
    assert log_store.span(TASK, 0) is None
    late = chunk(b"late", 10, at=NOON + HOUR, worker="w2")
    log_store.put_many([late])
    span = log_store.span(TASK, 0)
    assert span is not None
    assert (span.stored_up_to, span.size, span.ended) == (0, 14, False)
    log_store.put_many([chunk(b"1234"), chunk(b"34567", 2)])
    span = log_store.span(TASK, 0)
    assert span is not None
    assert (span.stored_up_to, span.size) == (7, 14)
    assert (span.last_at, span.worker) == (NOON + HOUR, "w2")
    log_store.put_many([chunk(b"789", 7), chunk(b"", 14, ends=True)])
    span = log_store.span(TASK, 0)
    assert span is not None
    assert (span.stored_up_to, span.size, span.ended, span.is_whole) == (14, 14, True, True)
    assert log_store.span(TASK, 1) is None


def test_an_empty_log_has_a_span_too(log_store: LogStore) -> None:
    log_store.put_many([chunk(b"", ends=True)])
    span = log_store.span(TASK, 0)
    assert span is not None
    assert (span.stored_up_to, span.size, span.is_whole) == (0, 0, True)
    assert list(whole(log_store)) == []


def test_attempts_are_listed_once_and_ascending(log_store: LogStore) -> None:
    numbers = [3, 0, 11, 0]
    log_store.put_many([chunk(b"x", index, attempt=each) for index, each in enumerate(numbers)])
    log_store.put_many([chunk(b"x", subject="another", attempt=7)])
    assert list(log_store.attempts(TASK)) == [0, 3, 11]
    assert list(log_store.attempts("nobody")) == []


def test_a_read_begins_and_ends_within_chunks_and_leaves_out_holes(log_store: LogStore) -> None:
    log_store.put_many([chunk(b"01234"), chunk(b"56789", 5), chunk(b"abcde", 20), chunk(b"ef", 24)])
    parts = log_store.read(TASK, 0, 3, EVERYTHING)
    assert [(part.offset, part.content) for part in parts] == [(3, b"3456789"), (20, b"abcdef")]
    parts = log_store.read(TASK, 0, 3, 9)
    assert [(part.offset, part.content) for part in parts] == [(3, b"3456789"), (20, b"ab")]
    parts = log_store.read(TASK, 0, 12, 1)
    assert [(part.offset, part.content) for part in parts] == [(20, b"a")]
    assert list(log_store.read(TASK, 0, 26, EVERYTHING)) == []
    assert list(log_store.read(TASK, 0, 0, 0)) == []
    assert list(log_store.read("nobody", 0, 0, 1)) == []
    assert not any(part.missing or part.missing_bytes for part in whole(log_store))


def test_any_bytes_read_back_as_they_were(log_store: LogStore) -> None:
    content = bytes(range(256)) * 3
    large = log_of(300)
    log_store.put_many([chunk(content), chunk(large, len(content))])
    assert text_of(log_store) == content + large


def test_a_log_of_more_chunks_than_a_page_reads_back(log_store: LogStore) -> None:
    text = log_of(30)
    log_store.put_many(cut(text, range(40, len(text), 40)))
    assert text_of(log_store) == text
    assert log_store.read(TASK, 0, 20_001, 5_000)[0].content == text[20_001:25_001]


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[bytes, list[list[StoredChunk]], str]:
    """A log; batches of chunks of several cuts of it, out of order, some twice and some never."""
    subject = f"property-{next(SUBJECTS)}"
    text = draw(st.binary(min_size=1, max_size=300))
    places = st.sets(st.integers(1, len(text)), max_size=6)
    chunks = [
        each
        for cuts in draw(st.lists(places, min_size=1, max_size=3))
        for each in cut(text, cuts, subject)
    ]
    some = draw(st.lists(st.sampled_from(chunks), max_size=12))
    if draw(st.booleans()):
        some = draw(st.permutations([*chunks, *some]))
    size = draw(st.integers(1, 5))
    return text, [some[first : first + size] for first in range(0, len(some), size)], subject


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(deliveries(), st.integers(0, 320), st.integers(0, 320))
def test_any_cut_in_any_order_reads_back_byte_for_byte(
    log_store: LogStore,
    delivery: tuple[bytes, list[list[StoredChunk]], str],
    offset: int,
    limit: int,
) -> None:
    text, batches, subject = delivery
    covered: set[int] = set()
    for batch in batches:
        assert MISMATCH not in log_store.put_many(batch)
        covered |= {
            at for each in batch for at in range(each.offset, each.offset + len(each.content))
        }
    read = {
        part.offset + index: byte
        for part in log_store.read(subject, 0, offset, limit)
        for index, byte in enumerate(part.content)
    }
    wanted = sorted(at for at in covered if at >= offset)[:limit]
    assert read == {at: text[at] for at in wanted}
    span = log_store.span(subject, 0)
    if not batches:
        assert span is None
        return
    assert span is not None
    first_hole = next(at for at in range(len(text) + 1) if at not in covered)
    assert (span.stored_up_to, span.size) == (first_hole, max(covered) + 1)
    assert span.ended == (len(text) - 1 in covered)


def test_two_writers_store_each_chunk_once(log_stores: LogStores) -> None:
    text = log_of(64)
    chunks = cut(text, range(1_000, len(text), 1_000))
    writers = [log_stores.open() for _ in range(3)]
    together = threading.Barrier(len(writers))

    def write(number: int) -> list[StoreOutcome]:
        """Put the same batches, every other writer each of them from its end."""
        step = -1 if number % 2 else 1
        outcomes: list[StoreOutcome] = []
        for first in range(0, len(chunks), 8):
            together.wait(30)
            outcomes += writers[number].put_many(chunks[first : first + 8][::step])[::step]
        return outcomes

    with ThreadPoolExecutor(len(writers)) as pool:
        results = list(pool.map(write, range(len(writers))))
    for of_one in zip(*results, strict=True):
        assert sorted(of_one) == [CONFLICT, CONFLICT, STORED]
    assert text_of(writers[0]) == text


def test_threads_share_one_store(log_store: LogStore) -> None:
    logs = {f"task-{number}": log_of(20, number) for number in range(6)}

    def write(subject: str) -> None:
        for each in cut(logs[subject], range(3_000, 20_000, 3_000), subject):
            log_store.put_many([each])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, logs))
    assert {subject: text_of(log_store, subject) for subject in logs} == logs


def test_what_is_too_old_is_deleted_and_the_rest_stays(log_stores: LogStores) -> None:
    log_store = log_stores.open()
    old = [chunk(line("ERROR", "old"), number * 100, subject="old") for number in range(5)]
    log_store.put_many(old)
    log_stores.clock.advance(2 * HOUR)
    log_store.put_many([chunk(line("ERROR", "young"), subject="young", at=NOON + 2 * HOUR)])
    assert log_store.delete_older_than(NOON, 100) == 0
    assert log_store.delete_older_than(NOON + HOUR, 3) == 3
    assert log_store.delete_older_than(NOON + HOUR, 3) == 2
    assert log_store.delete_older_than(NOON + HOUR, 3) == 0
    assert log_store.span("old", 0) is None
    assert list(whole(log_store, "old")) == []
    assert [hit.place.subject for hit in log_store.search(LogQuery(), 10).hits] == ["young"]
    assert text_of(log_store, "young") == line("ERROR", "young")
    assert list(log_store.put_many(old[:1])) == [STORED]


def test_a_chunk_may_stay_for_as_long_as_a_younger_one_of_its_file(log_stores: LogStores) -> None:
    log_store = log_stores.open()
    old = chunk(b"old", subject="old")
    log_store.put_many([old, chunk(b"young", subject="young", at=NOON + HOUR)])
    kept = log_stores.shares_files
    assert log_store.delete_older_than(NOON + SECOND, 100) == (0 if kept else 1)
    assert text_of(log_store, "old") == (b"old" if kept else b"")
    assert log_store.delete_older_than(NOON + DAY, 100) == (2 if kept else 1)


def test_what_belongs_to_a_supervisor_is_deleted_from_lists_at_once(log_store: LogStore) -> None:
    error = line("ERROR", "disk")
    mine = [chunk(error, number * 100, subject="mine") for number in range(5)]
    others = chunk(error, subject="other", supervisor="orders")
    young = chunk(b"young", subject="young", at=NOON + HOUR)
    log_store.put_many([*mine, others, young])
    assert log_store.delete_of_supervisor("clicks", NOON + HOUR, 2) == 2
    assert log_store.delete_of_supervisor("clicks", NOON + HOUR, 100) == 3
    assert log_store.delete_of_supervisor("clicks", NOON + HOUR, 100) == 0
    assert log_store.span("mine", 0) is None
    assert list(log_store.attempts("mine")) == []
    assert [hit.place.subject for hit in log_store.search(LogQuery(), 10).hits] == ["other"]
    assert text_of(log_store, "other") == error
    assert text_of(log_store, "young") == b"young"


def test_the_log_of_a_combined_record_is_whole_and_more_of_it_is_stored_beside_it(
    log_store: LogStore,
) -> None:
    """Goal: mode `inline` stores a log of megabytes at once, and a repeat may have more of it."""
    log = log_of(3_000)
    record = ReportRecord(
        type=RecordType.COMBINED,
        record_id=record_id_of("t", 1, RecordType.COMBINED, 0),
        subject="t",
        attempt=1,
        origin=RecordOrigin.STREAM,
        at=NOON,
        seq=0,
        final=True,
        payload={"log": log.decode(), "rows": 1},
    )
    first = parts_of(record.to_json().encode())
    more = record.model_copy(update={"payload": {"log": log.decode() + "more\n", "rows": 1}})
    second = parts_of(more.to_json().encode())
    assert first.report == second.report
    assert first.chunk is not None
    assert second.chunk is not None

    assert log_store.put_many([first.chunk]) == [StoreOutcome.STORED]
    span = log_store.span("t", 1)
    assert span is not None
    assert (span.is_whole, span.size) == (True, len(log))
    log_store.put_many([second.chunk])
    assert text_of(log_store, "t", 1) == log + b"more\n"


def test_a_store_knows_about_how_much_it_takes(log_store: LogStore) -> None:
    assert log_store.size_bytes() == 0
    log_store.put_many([chunk(log_of(100))])
    assert 1_000 < log_store.size_bytes() <= 102_400
    assert 0 < log_store.kept_bytes() <= log_store.size_bytes()
    log_store.ping()
    assert text_of(log_store) == log_of(100)
