"""Logs and reports: a search over what is stored, by filters that are in the address."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tasks.reporting.record import RecordOrigin, ReportRecord
from tests.browser.accessible import assert_accessible
from tests.browser.hostile.payloads import CONTROLS, LONG, PAYLOADS
from tests.browser.planted.conftest import Planted
from tests.browser.planted.stored import store_records, whole_log
from tests.conformance.reports.log_chunks import line
from tests.conformance.reports.report_stores import NOON, report
from tests.waiting import wait_until

pytestmark = pytest.mark.process

_TASK = "index_kafka_stored_0123456789abcde_abcdefgh"
_HOSTILE = "index_kafka_hostile_0123456789abcde_abcdefgh"


def _records() -> Iterator[ReportRecord]:
    lines = line("INFO", "begins") + line("WARNING", "a batch waits", 1)
    yield whole_log(
        _TASK, ("stored", "stored"), lines + line("ERROR", "the disk is full path=/data", 2)
    )
    hostile = [*PAYLOADS, *CONTROLS, LONG]
    text = b"".join(line("ERROR", each, n) for n, each in enumerate(hostile))
    yield whole_log(_HOSTILE, ("hostile", "stored"), text)
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
    step = report("nightly:1/verify", NOON, status="LOST")
    yield step.model_copy(update={"origin": RecordOrigin.EXECUTION})


def _nothing_stored(planted: Planted) -> str | None:
    answer = planted.overlord.http.get("/api/v1/overview").raise_for_status()
    words: str | None = answer.json()["nothingStored"]
    return words


def test_what_is_stored_is_searched_and_text_stays_text(page: Page, planted: Planted) -> None:
    """Goal: before anything is stored the page says so, and asks for nothing that is not there."""
    wait_until(lambda: _nothing_stored(planted) is not None)
    for path in ("logs", "logs/reports"):
        page.goto(f"/ui/{path}")
        expect(page.get_by_role("main")).to_contain_text("start a persister")
        assert_accessible(page)

    store_records(planted.url, _records())
    wait_until(lambda: _nothing_stored(planted) is None)
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
    expect(table.locator("tbody tr")).to_have_count(3)
    page.get_by_role("button", name="FAILED").click()
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table).to_contain_text(f"the disk is full {PAYLOADS[0]}")
    assert_accessible(page)
    page.get_by_role("button", name="FAILED").click()
    page.get_by_role("button", name="execution", exact=True).click()
    expect(table.locator("tbody tr")).to_have_count(1)
    link = table.get_by_role("link", name="nightly:1/verify")
    expect(link).to_have_attribute("href", re.compile(r"/ui/executions/nightly(:|%3A)1$"))
