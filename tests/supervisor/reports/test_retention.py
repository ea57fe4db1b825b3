"""What is too old goes, in batches, and nothing else."""

from datetime import timedelta

import pytest

from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.ports.reports.reports import ReportQuery
from supervisor.ports.store_problems import StoreAway
from supervisor.reports.incoming import parts_of
from supervisor.reports.retention import ReportRetention
from tasks.reporting.record import RecordType, ReportRecord
from tests.supervisor.reports.shelves import NOW, record

_AGE = timedelta(days=30)
_OLD, _YOUNG = NOW - _AGE - timedelta(seconds=1), NOW - _AGE + timedelta(seconds=1)


def _at(each: ReportRecord, *, old: bool) -> ReportRecord:
    return each.model_copy(update={"at": _OLD if old else _YOUNG})


def _filled() -> tuple[MemoryReports, MemoryLogStore]:
    reports, logs = MemoryReports(), MemoryLogStore()
    reports.put_many([_at(record(f"old-{number}"), old=True) for number in range(2_500)])
    reports.put_many([_at(record("young"), old=False)])
    reports.put_many([_at(record("an event", RecordType.EVENT), old=True)])
    for name, old in (("old-1", True), ("young", False)):
        chunk = _at(record(name, RecordType.LOG_CHUNK, text="line\n"), old=old)
        stored = parts_of(chunk.to_json().encode()).chunk
        assert stored is not None
        logs.put_many([stored])
    return reports, logs


def test_what_is_too_old_goes_and_events_have_ages_of_their_own() -> None:
    reports, logs = _filled()
    retention = ReportRetention(reports, logs, lambda: NOW, _AGE, 3 * _AGE)

    assert retention.run_once() == 2_501

    assert {each.subject for each in reports.list(ReportQuery(), 10)} == {"young", "an event"}
    assert logs.span("old-1", 0) is None
    assert logs.span("young", 0) is not None
    assert retention.run_once() == 0
    later = ReportRetention(reports, logs, lambda: NOW, _AGE, _AGE)
    assert later.run_once() == 1
    assert {each.subject for each in reports.list(ReportQuery(), 10)} == {"young"}


def test_a_stop_ends_it_between_two_batches() -> None:
    reports, logs = _filled()
    retention = ReportRetention(reports, logs, lambda: NOW, _AGE, 3 * _AGE)
    retention.stop()

    assert retention.run_once() == 0


def _of_days(*ages: int) -> tuple[MemoryReports, MemoryLogStore]:
    """Return stores with a report and a log of 1,000 bytes of each age in days."""
    reports, logs = MemoryReports(), MemoryLogStore()
    for days in ages:
        at = NOW - timedelta(days=days)
        reports.put_many([record(f"r-{days}", text="x" * 1_000).model_copy(update={"at": at})])
        chunk = record(f"l-{days}", RecordType.LOG_CHUNK, text="x" * 1_000)
        stored = parts_of(chunk.model_copy(update={"at": at}).to_json().encode()).chunk
        assert stored is not None
        logs.put_many([stored])
    return reports, logs


def test_of_too_much_the_oldest_goes_until_it_fits() -> None:
    reports, logs = _of_days(29, 20, 10, 1)
    one_age = (reports.size_bytes() + logs.kept_bytes()) // 4
    retention = ReportRetention(reports, logs, lambda: NOW, _AGE, _AGE, bytes_max=2 * one_age + 500)

    assert retention.run_once() == 4

    assert {each.subject for each in reports.list(ReportQuery(), 10)} == {"r-10", "r-1"}
    assert [logs.span(f"l-{days}", 0) is None for days in (29, 20, 10, 1)] == [
        True,
        True,
        False,
        False,
    ]
    assert retention.run_once() == 0


def test_what_is_younger_than_a_step_stays_whatever_it_takes() -> None:
    reports, logs = _of_days(20, 0)
    retention = ReportRetention(reports, logs, lambda: NOW, _AGE, _AGE, bytes_max=100)

    assert retention.run_once() == 2

    assert {each.subject for each in reports.list(ReportQuery(), 10)} == {"r-0"}
    assert logs.span("l-0", 0) is not None


class _Away(MemoryLogStore):
    def delete_older_than(self, cutoff: object, limit: int) -> int:
        raise StoreAway(f"connection refused ({cutoff}, {limit})")


def test_a_store_that_is_away_is_tried_again_later() -> None:
    reports, _ = _filled()
    retention = ReportRetention(reports, _Away(), lambda: NOW, _AGE, 3 * _AGE)

    with pytest.raises(StoreAway):
        retention.run_once()

    assert {each.subject for each in reports.list(ReportQuery(), 10)} == {"young", "an event"}
