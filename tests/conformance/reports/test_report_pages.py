"""Pages of reports for people: without payloads, with what went wrong, on every store alike."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.reports import report_pages
from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.adapters.reports.sql import SqlReports
from supervisor.ports.reports.reports import ReportPlace, ReportQuery, ReportStore
from tasks.reporting.record import RecordOrigin, RecordType
from tests.conformance.reports.report_stores import NOON, SECOND, opener, report

PROGRESS, RESULT = RecordType.PROGRESS, RecordType.TASK_RESULT
ALL = ReportQuery()


@pytest.fixture(
    params=["memory", "files", "sqlite", pytest.param("postgresql", marks=pytest.mark.pg)]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ReportStore]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield MemoryReports()
        return
    place = str(tmp_path / "reports")
    if request.param != "files":
        place = str(request.getfixturevalue(f"reports_{request.param}_url"))
    store = opener(place)()
    yield store
    store.close()


def _subjects(store: ReportStore, query: ReportQuery, *tables: str) -> str:
    page = store.page(query, 100, list(tables) or None)
    assert page.behind is None
    return "".join(line.subject for line in page.lines)


def test_a_line_has_what_a_list_shows_and_the_first_line_of_the_error(store: ReportStore) -> None:
    detail = "the disk is full\n  Traceback"
    failed = report(
        "b",
        NOON + SECOND,
        attempt=2,
        worker="w",
        supervisor="s",
        data_source="d",
        status="FAILED",
        payload={"failure": "OUT_OF_DISK", "detail": detail},
    )
    waits = report("a", kind=PROGRESS, payload={"detail": "waits for its predecessor"})
    store.put_many([failed, waits])
    first, second = store.page(ALL, 10).lines
    assert (first.record_id, first.place) == (
        failed.record_id,
        ReportPlace(failed.at, failed.record_id),
    )
    assert (first.subject, first.attempt, first.type, first.status) == ("b", 2, RESULT, "FAILED")
    assert (first.worker, first.supervisor, first.data_source) == ("w", "s", "d")
    assert (first.error, second.error) == ("the disk is full", "")
    assert first.size_bytes is not None
    assert first.size_bytes > len(detail)
    assert (second.origin, second.final, second.seq) == (RecordOrigin.STREAM, False, 0)


def test_a_page_says_where_the_list_goes_on(store: ReportStore) -> None:
    records = [report(f"t{n}", NOON + n // 3 * SECOND, status="SUCCESS") for n in range(8)]
    store.put_many(records)
    wanted = sorted(((each.at, each.record_id) for each in records), reverse=True)
    for query in (ALL, ReportQuery(status="SUCCESS"), ReportQuery(types=frozenset({RESULT}))):
        listed: list[ReportPlace] = []
        behind: ReportPlace | None = None
        while True:
            page = store.page(replace(query, after=behind), 3)
            listed += [line.place for line in page.lines]
            if (behind := page.behind) is None:
                break
        assert listed == wanted


@pytest.mark.parametrize(
    ("query", "tables", "wanted"),
    [
        (ALL, (), "dcba"),
        (ALL, ("x*",), "ca"),
        (ALL, ("xy", "z"), "cb"),
        (ALL, ("X*",), ""),
        (ReportQuery(supervisor="s1"), (), "ba"),
        (ReportQuery(supervisor="s1"), ("x*",), "a"),
        (ReportQuery(origin=RecordOrigin.STREAM, worker="w2"), (), "dc"),
        (ReportQuery(origin=RecordOrigin.EXECUTION), (), ""),
        (ReportQuery(types=frozenset({PROGRESS, RESULT}), status="FAILED"), (), "c"),
        (ReportQuery(types=frozenset({PROGRESS})), (), "b"),
        (ReportQuery(subject="c", attempt=1), (), "c"),
        (ReportQuery(subject="c", attempt=2), (), ""),
        (ReportQuery(since=NOON + SECOND, until=NOON + 3 * SECOND), (), "cb"),
        (ReportQuery(supervisor="s1", since=NOON + SECOND), (), "b"),
        (ReportQuery(after=ReportPlace(NOON + 2 * SECOND, ""), until=NOON + 2 * SECOND), (), "ba"),
    ],
)
def test_a_page_is_narrowed(
    store: ReportStore, query: ReportQuery, tables: tuple[str, ...], wanted: str
) -> None:
    store.put_many(
        [
            report("a", NOON, supervisor="s1", worker="w1", status="SUCCESS", data_source="x"),
            report("b", NOON + SECOND, kind=PROGRESS, supervisor="s1", data_source="z"),
            report("c", NOON + 2 * SECOND, worker="w2", status="FAILED", data_source="xy"),
            report("d", NOON + 3 * SECOND, worker="w2"),
        ]
    )
    assert _subjects(store, query, *tables) == wanted


def test_a_page_looks_at_bounded_many_rows_and_goes_on_behind_them(
    reports_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: what is rare among a million rows is found page by page, and no page takes long."""
    monkeypatch.setattr(report_pages, "LOOKED_AT_MAX", 4)
    store = SqlReports(ReportDatabase(reports_url))
    records = [
        report(f"t{n}", NOON + n * SECOND, data_source="x" if n == 0 else "y") for n in range(9)
    ]
    store.put_many(records)
    sizes: list[int] = []
    behind: ReportPlace | None = None
    while True:
        page = store.page(ReportQuery(after=behind), 10, ["x"])
        sizes.append(len(page.lines))
        if (behind := page.behind) is None:
            break
    assert sizes == [0, 0, 1]
    store.close()


def test_a_database_keeps_when_a_record_was_stored(reports_url: str) -> None:
    store = SqlReports(ReportDatabase(reports_url), ManualClock(NOON + 5 * SECOND))
    store.put_many([report()])
    assert store.page(ALL, 1).lines[0].stored_at == NOON + 5 * SECOND
    store.close()
