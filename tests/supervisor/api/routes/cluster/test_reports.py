"""`GET /api/v1/reports` and `GET /api/v1/logs`: what persisters have stored, page by page."""

from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import JsonValue

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.adapters.reports.sql import SqlReports
from supervisor.core.values.permissions import Role
from supervisor.ports.reports.logs import GravePage, LogQuery
from supervisor.ports.reports.reports import ReportPage, ReportQuery
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tasks.reporting.record import RecordType
from tests.conformance.reports.log_chunks import chunk, line
from tests.conformance.reports.report_stores import NOON, SECOND, report
from tests.supervisor.api.guarded import a_guarded_world, grants_of
from tests.supervisor.api.world import World

REPORTS, LOGS = "/api/v1/reports", "/api/v1/logs"
AT = "2026-11-28T12:00:0{}Z"
_FAILURE: dict[str, JsonValue] = {
    "failure": "FULL",
    "detail": "the disk is full\nat /data",
    "rows": 7,
}


def _reports() -> MemoryReports:
    """Four reports: two of the table clicks, one of views, one of no table."""
    stored = MemoryReports()
    failed = report("b", NOON + SECOND, status="FAILED", payload=_FAILURE, attempt=2)
    of_clicks = [
        report("a", NOON, status="SUCCESS"),
        failed,
        report("e", NOON + 4 * SECOND, kind=RecordType.AUDIT),
    ]
    of_views = report("c", NOON + 2 * SECOND, kind=RecordType.PROGRESS)
    clicks = {"supervisor": "s1", "data_source": "clicks", "worker": "w1"}
    views = {"supervisor": "s2", "data_source": "views", "worker": "w2"}
    stored.put_many([each.model_copy(update=clicks) for each in of_clicks])
    stored.put_many([of_views.model_copy(update=views), report("d", NOON + 3 * SECOND)])
    return stored


def _logs() -> MemoryLogStore:
    """Three lines: a warning and an error of clicks, a critical one of views."""
    stored = MemoryLogStore()
    first, second = line("WARNING", "100% of the Disk"), line("ERROR", "disk_full", 1)
    stored.put_many(
        [
            chunk(first + second, 64, subject="a", attempt=1, data_source="clicks", at=LATER),
            chunk(
                line("CRITICAL", "gone", 2),
                subject="c",
                supervisor="views",
                data_source="views",
                worker="w2",
                at=LATER,
            ),
        ]
    )
    return stored


LATER = NOON + 60 * SECOND


@pytest.fixture
def stored(world: World) -> World:
    """An overlord with something stored."""
    world.store_reports(_reports())
    world.store_logs(_logs())
    return world


def _rows(world: World, path: str) -> list[dict[str, object]]:
    page = world.get_object(path)
    rows = page["reports" if path.startswith(REPORTS) else "lines"]
    assert isinstance(rows, list)
    return rows


def _tasks(world: World, path: str) -> str:
    assert world.get_object(path)["next"] is None
    return "".join(str(row["task"]) for row in _rows(world, path))


def test_a_report_is_a_row_and_by_its_id_all_that_was_sent(stored: World) -> None:
    [row] = _rows(stored, f"{REPORTS}?task=b")
    size = row["bytes"]
    assert isinstance(size, int)
    assert size > 100
    assert {k: v for k, v in row.items() if k not in {"id", "bytes"}} == {
        "task": "b",
        "attempt": 2,
        "type": "task_result",
        "origin": "stream",
        "status": "FAILED",
        "supervisor": "s1",
        "dataSource": "clicks",
        "worker": "w1",
        "at": AT.format(1),
        "storedAt": None,
        "final": False,
        "error": "the disk is full",
    }
    whole = stored.get_object(f"{REPORTS}/{row['id']}")
    assert (whole["recordId"], whole["payload"]) == (row["id"], _FAILURE)
    answer = stored.client.get(f"{REPORTS}/{'0' * 32}")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/report-not-found")


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("", "dcba"),
        ("supervisor=s1", "ba"),
        ("dataSource=views", "c"),
        ("worker=w1&status=SUCCESS", "a"),
        ("status=FAILED", "b"),
        ("type=progress", "c"),
        ("origin=execution", ""),
        ("task=b&attempt=2", "b"),
        ("task=b&attempt=1", ""),
        (f"from={AT.format(1)}&to={AT.format(3)}", "cb"),
        ("from=0001-01-01T00:00:00%2B14:00&to=9999-12-31T23:59:59-14:00", "dcba"),
        ("supervisor=nobody", ""),
    ],
)
def test_reports_are_narrowed_and_entries_of_the_audit_log_are_none(
    stored: World, query: str, tasks: str
) -> None:
    assert _tasks(stored, f"{REPORTS}?{query}") == tasks


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("", "caa"),
        ("level=ERROR", "ca"),
        ("level=CRITICAL", "c"),
        ("text=DISK", "aa"),
        ("text=100%25", "a"),
        ("text=k_f", "a"),
        ("text=%25k%25", ""),
        ("task=a&supervisor=clicks&dataSource=clicks&worker=w1", "aa"),
        ("worker=w2", "c"),
        (f"from={AT.format(1)}", "ca"),
        (f"to={AT.format(1)}", "a"),
    ],
)
def test_lines_are_narrowed(stored: World, query: str, tasks: str) -> None:
    assert _tasks(stored, f"{LOGS}?{query}") == tasks


def test_a_line_says_where_it_is_in_which_log(stored: World) -> None:
    [row] = _rows(stored, f"{LOGS}?level=ERROR&task=a")
    assert row == {
        "task": "a",
        "attempt": 1,
        "offset": 64 + len(line("WARNING", "100% of the Disk")),
        "at": AT.format(1),
        "level": "ERROR",
        "text": line("ERROR", "disk_full", 1).decode().rstrip(),
        "supervisor": "clicks",
        "dataSource": "clicks",
        "worker": "w1",
    }


@pytest.mark.parametrize("path", [REPORTS, LOGS])
def test_a_list_goes_page_by_page(stored: World, path: str) -> None:
    everything = _rows(stored, path)
    paged: list[dict[str, object]] = []
    query = f"{path}?limit=1"
    while True:
        paged += _rows(stored, query)
        if (following := stored.get_object(query)["next"]) is None:
            break
        query = f"{path}?limit=1&cursor={following}"
    assert paged == everything


@pytest.mark.parametrize(
    ("path", "query", "slug"),
    [
        *((path, "limit=-1", "invalid-request") for path in (REPORTS, LOGS)),
        *((path, "limit=1001", "invalid-request") for path in (REPORTS, LOGS)),
        *((path, "cursor=nonsense", "bad-cursor") for path in (REPORTS, LOGS)),
        *((path, "from=2026-11-28T12:00:00", "invalid-request") for path in (REPORTS, LOGS)),
        *(
            (path, f"from={AT.format(2)}&to={AT.format(1)}", "invalid-request")
            for path in (REPORTS, LOGS)
        ),
        (REPORTS, "status=DONE", "invalid-request"),
        (REPORTS, "type=audit", "invalid-request"),
        (REPORTS, "type=log_chunk", "invalid-request"),
        (REPORTS, "attempt=-1", "invalid-request"),
        (LOGS, "level=INFO", "invalid-request"),
        (LOGS, "text=", "invalid-request"),
    ],
)
def test_what_a_list_does_not_take_is_named(
    stored: World, path: str, query: str, slug: str
) -> None:
    answer = stored.client.get(f"{path}?{query}")
    assert (answer.status_code, answer.json()["type"]) == (400, f"/problems/{slug}")
    assert answer.json()["detail"]


def test_the_cursor_of_another_list_is_none_of_this(stored: World) -> None:
    cursors = {path: stored.get_object(f"{path}?limit=1")["next"] for path in (REPORTS, LOGS)}
    for path, other in ((REPORTS, LOGS), (LOGS, REPORTS)):
        answer = stored.client.get(f"{path}?cursor={quote(str(cursors[other]))}")
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/bad-cursor")


def test_without_a_store_each_answer_says_how_there_would_be_one(world: World) -> None:
    for path in (REPORTS, LOGS, f"{REPORTS}/{'0' * 32}"):
        answer = world.client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-report-store")
        assert "TIDEGATE_REPORTS=off" in answer.json()["detail"]


def test_before_the_first_persister_each_answer_says_that_nothing_is_stored(
    world: World, tmp_path: Path
) -> None:
    database = ReportDatabase(f"sqlite:///{tmp_path / 'reports.db'}")
    world.store_reports(SqlReports(database))
    world.store_logs(SqlLogStore(database))
    for path in (REPORTS, LOGS, f"{REPORTS}/{'0' * 32}"):
        answer = world.client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-report-store")
        assert "start a persister" in answer.json()["detail"]


class _AwayReports(MemoryReports):
    def page(self, query: ReportQuery, limit: int, tables: object = None) -> ReportPage:
        raise StoreAway(f"connection refused for {query} {limit} {tables}")


class _RefusingLogs(MemoryLogStore):
    def search(self, query: LogQuery, limit: int) -> GravePage:
        raise StoreRefuses(f"a wrong password for {query} {limit}")


def test_a_store_that_does_not_answer_is_a_503_with_the_reason(world: World) -> None:
    world.store_reports(_AwayReports())
    world.store_logs(_RefusingLogs())
    for path, reason in ((REPORTS, "connection refused"), (LOGS, "wrong password")):
        answer = world.client.get(path)
        slug = "/problems/report-store-unavailable"
        assert (answer.status_code, answer.json()["type"]) == (503, slug)
        assert reason in answer.json()["detail"]


def test_what_is_foreign_is_nowhere(tmp_path: Path, migrated: Path) -> None:
    with a_guarded_world(tmp_path, migrated) as guarded:
        guarded.world.store_reports(_reports())
        guarded.world.store_logs(_logs())
        own = guarded.token("own", *grants_of(Role.VIEWER, "cli*"))
        foreign = guarded.token("foreign", *grants_of(Role.VIEWER, "other"))

        def rows(path: str, token: str) -> list[dict[str, object]]:
            page = guarded.ask("GET", path, token).json()
            assert page["next"] is None
            listed: list[dict[str, object]] = page["reports" if REPORTS in path else "lines"]
            return listed

        assert [row["task"] for row in rows(REPORTS, own)] == ["b", "a"]
        assert [row["task"] for row in rows(LOGS, own)] == ["a", "a"]
        for path in (REPORTS, LOGS):
            assert rows(path, foreign) == rows(f"{path}?dataSource=views", own) == []
            assert rows(f"{path}?supervisor=s1", foreign) == rows(f"{path}?task=c", own) == []
        mine = str(rows(REPORTS, own)[0]["id"])
        no_table = report("d", NOON + 3 * SECOND).record_id
        statuses = {
            (record, token): guarded.ask("GET", f"{REPORTS}/{record}", token).status_code
            for record in (mine, no_table)
            for token in (own, foreign)
        }
    assert statuses == {
        (mine, own): 200,
        (mine, foreign): 404,
        (no_table, own): 404,
        (no_table, foreign): 404,
    }
