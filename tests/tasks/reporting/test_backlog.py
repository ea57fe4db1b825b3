"""The backlog: bounded, the least is dropped first, results never, and each drop is counted."""

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tasks.reporting.backlog import Backlog, Rank, rank_of
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of

OFFERS = st.lists(
    st.tuples(st.sampled_from(RecordType), st.booleans(), st.integers(1, 40)), max_size=40
)


def _record(kind: RecordType, place: int, *, debug: bool = False) -> ReportRecord:
    is_log = kind is RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of("t-1", 0, kind, place),
        subject="t-1",
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=None if is_log else place,
        offset=place if is_log else None,
        debug=debug,
    )


def _all_of(backlog: Backlog) -> list[ReportRecord]:
    taken = []
    while (record := backlog.take()) is not None:
        taken.append(record)
    return taken


@given(OFFERS)
def test_nothing_is_lost_uncounted_and_no_result_at_all(
    offers: list[tuple[RecordType, bool, int]],
) -> None:
    backlog = Backlog(100)
    results_bytes = 0
    for place, (kind, debug, size) in enumerate(offers):
        record = _record(kind, place, debug=debug)
        if rank_of(record) is Rank.RESULT:
            results_bytes += size
        backlog.offer(record, size)
        assert backlog.size_bytes <= 100 + results_bytes

    taken = _all_of(backlog)

    kinds = Counter(record.type for record in taken)
    offered = Counter(kind for kind, _, _ in offers)
    assert kinds + backlog.dropped_total == offered
    counted = sum((Counter(record.dropped) for record in taken), Counter[RecordType]())
    assert counted == backlog.dropped_total or not taken
    for kind in (RecordType.TASK_RESULT, RecordType.COMBINED):
        assert kinds[kind] == offered[kind]
    ranks = [rank_of(record) for record in taken]
    assert ranks == sorted(ranks, reverse=True)
    assert (len(backlog), backlog.size_bytes) == (0, 0)


def test_progress_makes_place_for_a_report_and_a_report_does_not_for_progress() -> None:
    backlog = Backlog(10)
    assert backlog.offer(_record(RecordType.PROGRESS, 0), 6)
    assert backlog.offer(_record(RecordType.TASK_REPORT, 0), 6)

    assert not backlog.offer(_record(RecordType.PROGRESS, 1), 6)

    [report] = _all_of(backlog)
    assert report.type is RecordType.TASK_REPORT
    assert report.dropped == {RecordType.PROGRESS: 2}


def test_of_one_rank_the_oldest_waits_on() -> None:
    """Goal: a report is not dropped for a later one; the later one is."""
    backlog = Backlog(10)
    assert backlog.offer(_record(RecordType.TASK_REPORT, 0), 6)

    assert not backlog.offer(_record(RecordType.TASK_REPORT, 1), 6)

    assert [record.place for record in _all_of(backlog)] == [0]


def test_debugging_goes_first_but_no_result_for_it() -> None:
    backlog = Backlog(10)
    assert backlog.offer(_record(RecordType.TASK_REPORT, 0, debug=True), 9)
    assert backlog.offer(_record(RecordType.PROGRESS, 0), 9)
    assert backlog.offer(_record(RecordType.TASK_RESULT, 0, debug=True), 9)

    assert [record.type for record in _all_of(backlog)] == [
        RecordType.TASK_RESULT,
        RecordType.PROGRESS,
    ]
