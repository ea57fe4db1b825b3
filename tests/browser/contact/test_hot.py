"""A hot field of the spec is changed in the browser, and what reads goes on as it was."""

import re

import pytest
from playwright.sync_api import Page, expect
from pydantic import JsonValue

from tests.browser.contact.conftest import Site
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]


def _ranges(site: Site) -> list[tuple[str, JsonValue]]:
    """Return each range with the ids of its tasks, newest first."""
    path = f"/api/v1/supervisors/{site.id}/generations"
    ranges = site.cluster.http.get(path).raise_for_status().json()["generations"]
    return [(each["id"], [one["taskId"] for one in each["attempts"]]) for each in ranges]


def _due(site: Site) -> str:
    """Return when it is to publish next, as the leader last judged; nothing, if it did not yet."""
    answer = site.cluster.http.get("/api/v1/supervisors", params={"q": site.id}).raise_for_status()
    return answer.json()["supervisors"][0]["nextPublishDue"] or ""


def test_a_hot_field_leaves_ranges_and_tasks_as_they_are(page: Page, reading: Site) -> None:
    wait_until(lambda: _due(reading) != "")
    before, due = _ranges(reading), _due(reading)
    page.goto(f"/ui/supervisors/{reading.id}/spec")
    page.get_by_label("Task duration").fill("PT2H")
    expect(page.get_by_role("list", name="Changes")).to_contain_text("hot")

    page.get_by_role("button", name=re.compile("^Save as version")).click()
    dialog = page.get_by_role("dialog", name=re.compile("save as version"))
    dialog.get_by_role("button", name=re.compile("^Save as version")).click()

    expect(page.get_by_text(re.compile("This is version [0-9]+, the newest"))).to_be_visible()
    wait_until(lambda: _due(reading) > due)
    assert _ranges(reading) == before
    page.goto(f"/ui/supervisors/{reading.id}/timeline?as=table")
    ranges = page.get_by_role("table", name="Ranges").locator("tbody tr")
    expect(ranges).to_have_count(len(before))
    expect(ranges.first).to_contain_text("reading")
