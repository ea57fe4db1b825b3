"""The dialog of a rule of retention: it shows what the overlord counts, or why it cannot."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.browser.watch import Watch

pytestmark = pytest.mark.process

_COUNTS = re.compile(r"/retention\?.*dryRun=true")


def test_a_rule_is_set_as_it_was_shown_and_taken_off(page: Page, planted: Planted) -> None:
    planted.apply("kept")
    page.goto("/ui/tables/kept/rules")
    retention = page.get_by_role("region", name="Retention")
    retention.get_by_role("button", name="Set a rule…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Keep rows for").fill("P30D")

    expect(dialog).to_contain_text("0 files with 0 rows, older than P30D, leave kept at once")
    expect(dialog).to_contain_text("0 files · 0 rows")
    assert_accessible(page)
    with page.expect_request(re.compile(r"/kept/retention\?.*expect=[0-9a-f]+")) as sent:
        dialog.get_by_role("button", name="Set the rule").click()
    assert sent.value.method == "PUT"
    expect(retention).to_contain_text("Rows are kept for 30 days")

    retention.get_by_role("button", name="Take off…").click()
    expect(dialog).to_contain_text("Nothing leaves kept by its age any more")
    with page.expect_request(re.compile(r"/kept/retention\?.*expect=[0-9a-f]+")) as sent:
        dialog.get_by_role("button", name="Take the rule off").click()
    assert sent.value.method == "DELETE"
    expect(retention).to_contain_text("kept for ever")


def test_what_is_not_counted_yet_cannot_be_set(page: Page, watch: Watch, planted: Planted) -> None:
    planted.apply("counted")
    held: list[Route] = []

    def refuse(route: Route) -> None:
        problem = {"type": "/problems/internal", "title": "Files cannot be counted", "status": 500}
        headers = {"content-type": "application/problem+json"}
        route.fulfill(status=500, json=problem, headers=headers)

    def hold_the_first(route: Route) -> None:
        if held:  # it is asked once more by itself
            refuse(route)
        held.append(route)

    page.route(_COUNTS, hold_the_first)
    page.goto("/ui/tables/counted/rules")
    retention = page.get_by_role("region", name="Retention")
    retention.get_by_role("button", name="Set a rule…").click()
    dialog = page.get_by_role("dialog")
    with page.expect_request(_COUNTS):
        dialog.get_by_role("textbox", name="Keep rows for").fill("P30D")

    expect(dialog.get_by_role("status", name="Loading")).to_be_visible()
    expect(dialog.get_by_role("button", name="Set the rule")).to_have_count(0)

    watch.expect_status(500, "/api/v1/datasources/counted/retention")
    refuse(held[0])
    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text("Files cannot be counted")
    expect(dialog.get_by_role("button", name="Set the rule")).to_have_count(0)
    assert_accessible(page)
    page.unroute(_COUNTS)
    alert.get_by_role("button", name="Try again").click()
    expect(dialog).to_contain_text("0 files with 0 rows")
    expect(dialog.get_by_role("button", name="Set the rule")).to_be_enabled()
