"""The audit log: who changed what and why, by filters that are in the address, page by page."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route, expect

from supervisor.core.model.rows import AuditEntry
from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted

pytestmark = pytest.mark.process

_MANY = 110
"""More than one page has."""


def test_a_change_is_found_by_who_what_and_where(page: Page, planted: Planted) -> None:
    planted.apply("audited", reason="a new column")
    planted.apply("audited", reason="fewer tasks", taskCount=1)

    page.goto("/ui/audit?action=apply")
    page.get_by_label("Supervisor").fill("audited")
    rows = page.get_by_role("table", name="Changes").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"/ui/audit\?.*supervisor=audited"))
    expect(rows.first).to_contain_text("fewer tasks")
    expect(rows.last).to_contain_text("a new column")
    assert_accessible(page)

    rows.first.get_by_role("button", name="version 1 to 2").click()
    expect(page.get_by_role("dialog")).to_contain_text("fewer tasks")
    context = page.get_by_role("dialog").get_by_role("link", name="events of audited")
    expect(context).to_have_attribute("href", re.compile(r"/audited/events\?since=.*&until="))
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Denied tries").click()
    expect(page.get_by_text("Nothing was refused")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    assert_accessible(page)


def test_what_people_did_is_alone_and_a_row_opens(page: Page, planted: Planted) -> None:
    planted.apply("by-hand", reason="why it was done, in more words than the column has room for")
    planted.apply("by-hand", taskCount=1)
    with planted.writing() as tx:
        tx.audit.write(AuditEntry(datetime.now(UTC), "overlord", "reset-automatically", "by-hand"))

    page.goto("/ui/audit?supervisor=by-hand")
    rows = page.get_by_role("table", name="Changes").locator("tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="By people").click()
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile("by=people"))
    assert_accessible(page)

    rows.last.get_by_text("why it was done").click()
    expect(page.get_by_role("dialog")).to_contain_text("in more words than the column has room for")
    page.keyboard.press("Escape")
    rows.first.get_by_text("anonymous").click()
    page.get_by_role("dialog").get_by_role("link", name="what version 2 of by-hand").click()
    expect(page.get_by_role("heading", name="From version 1 to version 2")).to_be_visible()


def test_older_changes_come_as_the_list_is_read(page: Page, planted: Planted) -> None:
    planted.apply("often")
    for n in range(_MANY):
        planted.apply("often", reason=f"change {n}", taskCount=1 + n % 2)

    page.goto("/ui/audit?supervisor=often")
    table = page.get_by_role("table", name="Changes")
    # One page, the header, and at least one row that is not known yet.
    expect(table).to_have_attribute("aria-rowcount", "102")
    table.hover()
    page.mouse.wheel(0, 3_000)
    expect(table).to_have_attribute("aria-rowcount", str(_MANY + 2))
    assert table.locator("tbody tr").count() < _MANY, "rows are virtual"


_AWAY = "older ones are in the archive, which cannot be read now: <b>the disk</b> is gone"


def test_what_the_archive_cannot_give_is_in_words(page: Page, planted: Planted) -> None:
    """Goal: a list that ends early does not look like a list that is whole."""
    planted.apply("half-there")

    def lack(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"missing": _AWAY})

    page.route(re.compile(r"/api/v1/(audit|events)\?"), lack)
    page.goto("/ui/audit?supervisor=half-there")
    expect(page.get_by_text(f"Older changes are not in this list: {_AWAY}")).to_be_visible()
    expect(page.get_by_role("table", name="Changes")).to_contain_text("half-there")
    assert_accessible(page)
    page.goto("/ui/supervisors/half-there/events")
    expect(page.get_by_text(f"Older events are not in this list: {_AWAY}")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    assert_accessible(page)
