"""Supervisors that were terminated: the page of one, back or forgotten; many at once."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted
from tests.browser.watch import Watch
from tests.integration.overlords import SUPERVISORS
from tests.waiting import wait_until

pytestmark = pytest.mark.process

_GONE = (
    f"{SUPERVISORS}/{{}}",
    f"{SUPERVISORS}/{{}}/status",
    "/api/v1/supervisors/{}/explain",
)


def _terminate(planted: Planted, watch: Watch, name: str) -> None:
    """Terminate a supervisor; a page that opens then may look at what is not there any more."""
    http = planted.overlord.http
    answer = http.post(
        f"{SUPERVISORS}/{name}/terminate",
        params={"reason": "moved away"},
        headers={"X-Druid-Author": "alice"},
    )
    answer.raise_for_status()
    wait_until(lambda: http.get(f"{SUPERVISORS}/{name}/status").status_code == 404)
    for path in _GONE:
        watch.allow_status(404, path.format(name))


def test_a_terminated_supervisor_is_brought_back(
    page: Page, watch: Watch, planted: Planted
) -> None:
    planted.apply("ended-a")
    _terminate(planted, watch, "ended-a")
    page.goto("/ui/supervisors/ended-a")
    expect(page.get_by_text("TERMINATED", exact=True)).to_be_visible()
    expect(page.get_by_text("by alice").first).to_be_visible()
    expect(page.get_by_text("moved away").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    left = page.get_by_role("region", name="What is left of it")
    expect(left.get_by_role("link", name="ended-a")).to_have_attribute(
        "href", "/ui/tables/ended-a/summary"
    )
    assert_accessible(page)

    tabs = page.get_by_role("navigation", name="Views of the supervisor")
    expect(tabs.get_by_role("link")).to_have_count(6)
    for tab in ("Timeline", "Bad records", "Tasks", "Events", "History"):
        tabs.get_by_role("link", name=tab, exact=True).click()
        expect(page).to_have_url(re.compile(tab.lower().replace(" ", "-")))
        expect(page.get_by_role("alert")).to_have_count(0)
    versions = page.get_by_role("table", name="Versions")
    expect(versions).to_contain_text("terminated")
    expect(versions.get_by_role("button", name="Roll back to v1…")).to_be_visible()
    page.goto("/ui/supervisors/ended-a/spec")
    expect(page.get_by_text("It is terminated, so there is nothing to show here.")).to_be_visible()

    page.get_by_role("button", name="Bring back version 1…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("tidegate supervisor rollback ended-a --to 1").first).to_be_visible()
    assert_accessible(page)
    dialog.get_by_role("button", name="Bring back", exact=True).click()

    expect(page.get_by_role("button", name="Suspend…")).to_be_visible()
    expect(tabs.get_by_role("link", name="Spec", exact=True)).to_be_visible()


def test_terminated_supervisors_are_found_from_the_list(
    page: Page, watch: Watch, planted: Planted
) -> None:
    for name in ("gone-a", "gone-b"):
        planted.apply(name)
        _terminate(planted, watch, name)
    page.goto("/ui/supervisors")
    page.get_by_role("button", name="Terminated", exact=True).click()

    expect(page).to_have_url(re.compile(r"ended=yes"))
    table = page.get_by_role("table", name="Terminated supervisors")
    rows = table.locator("tbody tr").filter(has_text="gone-")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("gone-b")
    expect(rows.first).to_contain_text("alice")
    expect(rows.first).to_contain_text("moved away")
    expect(rows.first).to_contain_text("v1")
    assert_accessible(page)

    page.reload()
    page.get_by_role("textbox", name="Name or table").fill("gone-a")
    expect(rows).to_have_count(1)
    expect(page.get_by_text("1 terminated supervisor fits the filters")).to_be_visible()
    page.get_by_role("textbox", name="Name or table").fill("gone-c")
    expect(page.get_by_text("No terminated supervisor fits the filters.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    rows.get_by_role("link", name="gone-a", exact=True).first.click()
    expect(page.get_by_role("button", name="Bring back version 1…")).to_be_visible()

    page.keyboard.press("Control+k")
    page.get_by_role("textbox", name="Search").fill("gone-b")
    page.get_by_role("button", name=re.compile("gone-b.*terminated by alice")).click()
    expect(page).to_have_url(re.compile("/supervisors/gone-b/overview"))


def test_a_terminated_supervisor_is_forgotten(page: Page, watch: Watch, planted: Planted) -> None:
    planted.apply("ended-b")
    _terminate(planted, watch, "ended-b")
    watch.allow_status(404, "/api/v1/supervisors/ended-b/history")
    page.goto("/ui/supervisors/ended-b/overview")

    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 versions of its spec")
    expect(dialog).to_contain_text("cannot be undone")
    dialog.get_by_role("button", name="Forget", exact=True).click()

    expect(page.get_by_role("alert").first).to_contain_text("There is no such supervisor")
    expect(page.get_by_role("button", name="Forget…")).to_have_count(0)
    history = planted.overlord.http.get(f"{SUPERVISORS}/ended-b/history")
    assert history.status_code == 404


def test_many_are_exported_handed_off_and_terminated(page: Page, planted: Planted) -> None:
    names = ("bulk-a", "bulk-b")
    for name in names:
        planted.apply(name)
    page.goto("/ui/supervisors?q=bulk-")
    for name in names:
        page.get_by_label(f"Select {name}").check()
    toolbar = page.get_by_role("toolbar", name="Selected supervisors")
    assert_accessible(page)

    with page.expect_download() as saved:
        toolbar.get_by_role("button", name="Export specs").click()
    assert saved.value.suggested_filename == "supervisor-specs.json"
    specs = json.loads(Path(saved.value.path()).read_text())
    assert [each["id"] for each in specs] == list(names)

    toolbar.get_by_role("button", name="Hand off…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("0 would change, 2 would be left as they are")).to_be_visible()
    expect(dialog).to_contain_text("No group reads now")
    expect(dialog.get_by_role("button", name="Hand off", exact=True)).to_be_disabled()
    dialog.get_by_role("button", name="Cancel").click()

    toolbar.get_by_role("button", name="Terminate…").click()
    expect(dialog.get_by_text("2 would change, 0 would be left as they are")).to_be_visible()
    assert_accessible(page)
    act = dialog.get_by_role("button", name="Terminate", exact=True)
    expect(act).to_be_disabled()
    dialog.get_by_label("Type 2 to confirm: so many supervisors").fill("2")
    act.click()
    expect(dialog.get_by_text("2 done, 0 failed, 0 to go")).to_be_visible()
    dialog.locator("form").get_by_role("button", name="Close").click()
    expect(toolbar).to_have_count(0)  # those that are gone are selected no more

    for name in names:
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
