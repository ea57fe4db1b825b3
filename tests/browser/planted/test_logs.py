"""Logs and reports: a search over what is stored, by filters that are in the address."""

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from supervisor.adapters.reports.database import ReportDatabase, migrate_reports
from supervisor.adapters.reports.logs.sql_logs import SqlLogStore
from supervisor.adapters.reports.sql import SqlReports
from supervisor.reports.incoming import parts_of
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tests.browser.accessible import assert_accessible
from tests.browser.hostile.payloads import CONTROLS, LONG, PAYLOADS
from tests.browser.planted.conftest import Planted
from tests.browser.watch import Watch
from tests.conformance.reports.log_chunks import line
from tests.conformance.reports.report_stores import NOON, SECOND, report

pytestmark = pytest.mark.process

_TASK = "index_kafka_stored_0123456789abcde_abcdefgh"
_HOSTILE = "index_kafka_hostile_0123456789abcde_abcdefgh"


def _log(task: str, text: bytes) -> ReportRecord:
    """Return the record of a whole log, as a worker sends it."""
    kind = RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of(task, 1, kind, 0),
        subject=task,
        attempt=1,
        origin=RecordOrigin.STREAM,
        worker="w1",
        supervisor="hostile" if task == _HOSTILE else "stored",
        data_source="stored",
        at=NOON + 3_600 * SECOND,
        offset=0,
        final=True,
        payload={"text": text.decode()},
    )


def _records() -> Iterator[ReportRecord]:
    lines = line("INFO", "begins") + line("WARNING", "a batch waits", 1)
    yield _log(_TASK, lines + line("ERROR", "the disk is full path=/data", 2))
    hostile = [*PAYLOADS, *CONTROLS, LONG]
    yield _log(_HOSTILE, b"".join(line("ERROR", each, n) for n, each in enumerate(hostile)))
    failed = report(
        _TASK,
        NOON,
        status="FAILED",
        supervisor="stored",
        data_source="stored",
        worker="w1",
        payload={"failure": "FULL", "detail": f"the disk is full {PAYLOADS[0]}"},
    )
    yield failed
    yield report("index_kafka_stored_good", NOON, status="SUCCESS", supervisor="stored")


def _store(planted: Planted) -> None:
    """Do what a persister does with these records."""
    url = planted.url.replace("metadata.db", "reports.db")
    migrate_reports(url)
    database = ReportDatabase(url)
    with closing(SqlReports(database)) as reports:
        for record in _records():
            parts = parts_of(record.to_json().encode())
            if parts.chunk is not None:
                SqlLogStore(database).put_many([parts.chunk])
            if parts.report is not None:
                reports.put_many([parts.report])


def test_what_is_stored_is_searched_and_text_stays_text(
    page: Page, watch: Watch, planted: Planted
) -> None:
    watch.expect_status(404, "/api/v1/logs")
    page.goto("/ui/logs")
    expect(page.get_by_role("main")).to_contain_text("start a persister")
    assert_accessible(page)

    _store(planted)
    page.goto("/ui/logs?supervisor=stored")
    rows = page.get_by_role("table", name="Lines").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("the disk is full path=/data")
    assert_accessible(page)
    page.get_by_role("button", name="ERROR").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/ui/logs\?.*level=ERROR"))
    page.get_by_label("Text in the line").fill("DISK_")
    expect(page.get_by_text("No stored line fits the filters")).to_be_visible()
    page.get_by_label("Text in the line").fill("DISK")
    link = rows.first.get_by_role("link", name=_TASK)
    expect(link).to_have_attribute("href", re.compile(rf"/tasks/{_TASK}/log\?find=2026-11-28T12"))

    page.goto("/ui/logs?supervisor=hostile")
    table = page.get_by_role("table", name="Lines")
    expect(table).to_contain_text("<b>x</b><b>x</b>")
    expect(table).to_contain_text("[31mred")
    assert "\x1b" not in table.inner_text()
    page.emulate_media(color_scheme="dark")
    assert_accessible(page)

    page.get_by_role("link", name="Reports").click()
    table = page.get_by_role("table", name="Reports")
    expect(table.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="FAILED").click()
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table).to_contain_text(f"the disk is full {PAYLOADS[0]}")
    assert_accessible(page)
