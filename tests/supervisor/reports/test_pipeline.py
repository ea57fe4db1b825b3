"""The pipeline: one outcome for each record, whatever the stores do, and none before its time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from supervisor.core.reports.batches import BatchBounds
from supervisor.core.reports.status import BackOff, PersisterState, StoreOutcome
from supervisor.ports.reports.feed import FeedPartition
from supervisor.ports.reports.reports import ReportQuery
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.reports.pipeline import Pipeline, PipelineOptions
from tasks.reporting.record import RecordType, ReportRecord
from tests.supervisor.reports.shelves import (
    WITHIN_S,
    Ends,
    Shelves,
    garbage,
    incoming,
    record,
)
from tests.waiting import wait_until

_SOON = BackOff(min_s=0.001, max_s=0.002, tries_max=10)
_A_MOMENT_S = 0.2
"""What does not wait is over by then."""


@contextmanager
def _running(
    shelves: Shelves,
    *,
    writers: int = 2,
    batch: BatchBounds | None = None,
    back_off: BackOff = _SOON,
    records_per_s: float | None = None,
) -> Iterator[Pipeline]:
    options = PipelineOptions(
        writers=writers,
        batch=batch or BatchBounds(),
        back_off=back_off,
        records_per_s=records_per_s,
    )
    pipeline = Pipeline(shelves.storing(), options, chance=lambda: 0.0)
    pipeline.start()
    try:
        yield pipeline
    finally:
        pipeline.stop(WITHIN_S)


def _state(pipeline: Pipeline) -> PersisterState:
    return pipeline.status().status.state


def _stored(shelves: Shelves) -> set[str]:
    return {each.subject for each in shelves.reports.list(ReportQuery(), 1_000)}


def test_a_repeated_record_is_stored_once_and_is_a_conflict() -> None:
    shelves, ends = Shelves(), Ends()
    r1, r2, r3, r4 = (record(f"r{number}") for number in range(1, 5))
    with _running(shelves) as pipeline:
        pipeline.submit(incoming([r1, r2, r1, r3, r4], ends))
        outcomes = ends.await_all(5)

    assert list(outcomes.values()).count(StoreOutcome.STORED) == 4
    assert list(outcomes.values()).count(StoreOutcome.CONFLICT) == 1
    assert _stored(shelves) == {"r1", "r2", "r3", "r4"}


def test_another_content_under_the_same_id_is_a_mismatch_and_the_first_is_kept() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves, writers=1) as pipeline:
        pipeline.submit(incoming([record(rows=1)], ends))
        ends.await_all(1)
        pipeline.submit(incoming([record(rows=2)], ends, first=1))
        outcomes = ends.await_all(2)

    assert outcomes[1] is StoreOutcome.MISMATCH
    (kept,) = shelves.reports.list(ReportQuery(), 10)
    assert kept.payload == {"rows": 1}


def test_results_and_combined_records_are_stored_and_completions_are_counted() -> None:
    shelves, ends = Shelves(), Ends()
    records = [
        record("one", RecordType.TASK_RESULT, status="SUCCESS"),
        record("two", RecordType.COMBINED, log="a line\n", rows=3),
        record("three", RecordType.COMPLETION),
    ]
    with _running(shelves) as pipeline:
        pipeline.submit(incoming(records, ends))
        outcomes = ends.await_all(3)

    assert [outcomes[number] for number in range(3)] == [
        StoreOutcome.STORED,
        StoreOutcome.STORED,
        StoreOutcome.SKIPPED,
    ]
    assert _stored(shelves) == {"one", "two"}
    span = shelves.logs.span("two", 0)
    assert span is not None
    assert span.is_whole
    (combined,) = shelves.reports.list(ReportQuery(subject="two"), 10)
    assert combined.payload == {"rows": 3}
    assert pipeline.meters.counts().outcomes == {StoreOutcome.STORED: 2, StoreOutcome.SKIPPED: 1}


def test_bad_records_become_dead_letters_and_their_neighbours_are_stored() -> None:
    shelves, ends = Shelves(), Ends()
    records: list[ReportRecord | bytes] = [
        record("a"),
        garbage(),
        record("bad text"),
        record("b"),
        b"{",
        record("c"),
    ]
    with _running(shelves, writers=1) as pipeline:
        pipeline.submit(incoming(records, ends))
        outcomes = ends.await_all(6)

    rejected = {offset for offset, each in outcomes.items() if each is StoreOutcome.REJECTED}
    assert rejected == {1, 2, 4}
    assert _stored(shelves) == {"a", "b", "c"}
    letters = {each.offset: each for each in shelves.letters.kept}
    assert letters.keys() == rejected
    assert letters[1].body == garbage()
    assert "version" in letters[1].reason
    assert letters[2].reason == "the store does not take this text"
    assert letters[2].topic == "completed.default"


def test_a_log_whose_text_is_none_is_a_dead_letter() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves) as pipeline:
        pipeline.submit(incoming([record("t", RecordType.LOG_CHUNK, text=3)], ends))
        assert ends.await_all(1) == {0: StoreOutcome.REJECTED}

    assert shelves.logs.span("t", 0) is None


def test_a_bad_record_is_not_done_before_its_dead_letter_is_kept() -> None:
    shelves, ends = Shelves(), Ends()
    shelves.letters.weather.failures = [StoreAway("no broker")] * 3
    with _running(shelves, writers=1) as pipeline:
        pipeline.submit(incoming([record("a"), garbage()], ends))
        outcomes = ends.await_all(2)

    assert outcomes[1] is StoreOutcome.REJECTED
    assert shelves.letters.weather.calls == 4
    assert len(shelves.letters.kept) == 1


def test_a_store_that_comes_back_gets_everything_once() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves) as pipeline:
        wait_until(lambda: _state(pipeline) is PersisterState.RUNNING, WITHIN_S)
        shelves.reports.weather.failures = [StoreAway("connection refused")] * 5
        pipeline.submit(incoming([record(str(number)) for number in range(100)], ends))
        outcomes = ends.await_all(100)
        wait_until(lambda: _state(pipeline) is PersisterState.RUNNING, WITHIN_S)

    assert set(outcomes.values()) == {StoreOutcome.STORED}
    assert len(_stored(shelves)) == 100
    assert pipeline.meters.counts().failed_tries == 5


def test_too_many_failures_stop_it_and_resume_goes_on() -> None:
    shelves, ends = Shelves(), Ends()
    shelves.reports.weather.lasting = StoreAway("connection refused")
    with _running(shelves, back_off=BackOff(0.001, 0.002, tries_max=3)) as pipeline:
        pipeline.submit(incoming([record("a")], ends))
        wait_until(lambda: _state(pipeline) is PersisterState.STOPPED, WITHIN_S)
        assert pipeline.status().status.reason == "connection refused"
        assert pipeline.status().in_flight.records == 1
        assert not ends.outcomes

        shelves.reports.weather.lasting = None
        pipeline.resume()
        assert ends.await_all(1) == {0: StoreOutcome.STORED}
        wait_until(lambda: pipeline.status().in_flight.records == 0, WITHIN_S)


def test_a_store_that_refuses_stops_it_at_once() -> None:
    shelves = Shelves()
    shelves.reports.weather.lasting = StoreRefuses("no schema: run `tidegate persister --migrate`")
    with _running(shelves, writers=1) as pipeline:
        wait_until(lambda: _state(pipeline) is PersisterState.STOPPED, WITHIN_S)

        assert pipeline.status().status.tries == 1
        assert "no schema" in pipeline.status().status.reason


def test_writers_that_fail_together_have_failed_once() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves, writers=4, batch=BatchBounds(1), back_off=BackOff(30.0)) as pipeline:
        wait_until(lambda: _state(pipeline) is PersisterState.RUNNING, WITHIN_S)
        weather = shelves.reports.weather
        weather.lasting, weather.gate = StoreAway("connection refused"), threading.Event()
        weather.entered = threading.Semaphore(0)
        pipeline.submit(incoming([record(str(number)) for number in range(4)], ends))
        for _ in range(4):
            assert weather.entered.acquire(timeout=WITHIN_S)
        weather.gate.set()
        wait_until(lambda: pipeline.meters.counts().failed_tries == 4, WITHIN_S)

        assert pipeline.status().status.tries == 1
        weather.lasting = None
        pipeline.resume()
        ends.await_all(4)


def test_a_fault_of_ours_loses_no_record() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves) as pipeline:
        wait_until(lambda: _state(pipeline) is PersisterState.RUNNING, WITHIN_S)
        shelves.logs.weather.failures = [KeyError("a fault")]
        pipeline.submit(incoming([record("t", RecordType.LOG_CHUNK, text="line\n")], ends))

        assert ends.await_all(1) == {0: StoreOutcome.STORED}


def test_what_waits_of_a_partition_that_goes_is_forgotten_and_the_rest_is_stored() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves, writers=1, batch=BatchBounds(1)) as pipeline:
        wait_until(lambda: _state(pipeline) is PersisterState.RUNNING, WITHIN_S)
        weather = shelves.reports.weather
        weather.gate, weather.entered = threading.Event(), threading.Semaphore(0)
        pipeline.submit(incoming([record("in hand"), record("waits")], ends))
        pipeline.submit(incoming([record("other")], ends, partition=1, first=2))
        assert weather.entered.acquire(timeout=WITHIN_S)
        gone = threading.Thread(
            target=pipeline.discard, args=([FeedPartition("completed.default", 0)], WITHIN_S)
        )
        gone.start()
        gone.join(_A_MOMENT_S)
        assert gone.is_alive(), "discard waits for what is being stored"
        weather.gate.set()
        gone.join(WITHIN_S)

        assert not gone.is_alive()
        assert 0 in dict(ends.outcomes)
        ends.await_all(2)
    assert _stored(shelves) == {"in hand", "other"}


def test_the_end_stores_what_waits() -> None:
    shelves, ends = Shelves(), Ends()
    pipeline = Pipeline(shelves.storing(), PipelineOptions(back_off=_SOON))
    pipeline.submit(incoming([record(str(number)) for number in range(50)], ends))
    pipeline.start()

    assert pipeline.stop(WITHIN_S)

    assert len(ends.outcomes) == 50
    assert _state(pipeline) is PersisterState.TERMINATED


def test_the_end_does_not_wait_for_ever_and_calls_nothing_stored() -> None:
    shelves, ends = Shelves(), Ends()
    shelves.reports.weather.gate = threading.Event()
    pipeline = Pipeline(shelves.storing(), PipelineOptions(writers=1))
    pipeline.start()
    pipeline.submit(incoming([record("a")], ends))

    assert not pipeline.stop(0.05)

    assert not ends.outcomes
    shelves.reports.weather.gate.set()


def test_what_the_level_does_not_take_is_skipped() -> None:
    shelves, ends = Shelves(), Ends()
    storing = shelves.storing(keeps=lambda each: each.subject == "kept")
    pipeline = Pipeline(storing)
    pipeline.start()
    pipeline.submit(incoming([record("kept"), record("left")], ends))
    outcomes = ends.await_all(2)
    pipeline.stop(WITHIN_S)

    assert outcomes == {0: StoreOutcome.STORED, 1: StoreOutcome.SKIPPED}


@pytest.mark.parametrize(
    ("sizes", "taken"), [([], 0), ([5], 1), ([11, 1], 1), ([5, 5, 1], 2), ([1, 1, 1, 1], 3)]
)
def test_a_batch_takes_what_fits_and_one_at_least(sizes: list[int], taken: int) -> None:
    assert BatchBounds(3, 10).length_of(sizes) == taken


def test_a_batch_is_no_larger_than_the_bucket_of_its_pace() -> None:
    assert BatchBounds(500).within_rate(None) == BatchBounds(500)
    assert BatchBounds(500).within_rate(10.0).records == 10
    assert BatchBounds(500).within_rate(0.5).records == 1


def test_a_pace_lets_everything_through_and_counts_its_waits() -> None:
    shelves, ends = Shelves(), Ends()
    with _running(shelves, records_per_s=1_000.0) as pipeline:
        pipeline.submit(incoming([record(str(number)) for number in range(150)], ends))
        ends.await_all(150)

        assert pipeline.meters.counts().rate_wait_s > 0
    assert len(_stored(shelves)) == 150
