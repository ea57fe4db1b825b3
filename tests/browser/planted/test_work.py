"""Work: changes, backfills and compactions in one list, by kind and state."""

import pytest
from playwright.sync_api import Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import Planted

pytestmark = pytest.mark.process

_BOUNDS: JsonValue = {"startSequenceNumbers": {"0": 200}, "endSequenceNumbers": {"0": 1_200}}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_runs_is_shown_by_kind_and_state(page: Page, planted: Planted, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    name = f"again_{scheme}"
    planted.apply(name, reason="the late records", boundedStreamConfig=_BOUNDS)
    planted.compaction(name, "small files")

    page.goto("/ui/work")
    work = page.get_by_role("table", name="Work")
    row = work.get_by_role("row")
    change = row.filter(has_text="apply, version 1").filter(has_text=name)
    expect(change).to_contain_text("waits for")
    expect(change).to_contain_text("the late records")
    backfill = row.filter(has_text="1,000 records once").filter(has_text=name)
    expect(backfill).to_contain_text("0 of 1,000 records published")
    compaction = row.filter(has_text="small files").filter(has_text=name)
    expect(compaction).to_contain_text("waits for a worker")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280

    page.get_by_role("button", name="Compactions").click()
    expect(page).to_have_url("/ui/work?kind=compaction")
    expect(row.filter(has_text="apply")).to_have_count(0)
    compaction.get_by_role("button", name="Give up…").click()
    page.get_by_role("dialog").get_by_role("button", name="Give up", exact=True).click()
    expect(compaction.get_by_role("button", name="Give up…")).to_have_count(0)

    page.goto("/ui/work?kind=export&state=running&kind=nonsense")
    expect(page.get_by_text("Nothing fits the filters")).to_be_visible()
    expect(page.get_by_role("button", name="Exports")).to_have_attribute("aria-pressed", "true")


def test_all_tasks_of_a_table_are_ended(page: Page, planted: Planted) -> None:
    planted.apply("tasks-end")
    page.goto("/ui/tables/tasks-end/summary")

    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="End all tasks…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("tidegate task stop-all tasks-end").first).to_be_visible()
    assert_accessible(page)
    dialog.get_by_role("button", name="End tasks", exact=True).click()

    expect(page.get_by_text("The tasks of tasks-end end.")).to_be_visible()
