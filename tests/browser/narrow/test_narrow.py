"""Every page in windows of any width: at 200 %, on a small and on a large screen.

Slow: thirty pages, each in three windows.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.flows import (
    DAY,
    apply_flow,
    asking_flow,
    asking_runs,
    await_asking,
    start_flow,
)
from tests.browser.planted.stored import failed_task, store_records
from tests.browser.rows.conftest import Published
from tests.waiting import HANGS_AFTER_S

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

_SIZES = {
    "at 200 %": (640, 400),
    "on a small screen": (1280, 800),
    "on a large screen": (1920, 1080),
}
"""A window of 1280 by 800 at 200 % has half as many CSS pixels each way."""
_LIST_MIN = 240
"""Height of a list with more rows than it shows, in CSS pixels."""
_MEASURE = """() => {
  const content = document.querySelector("#content > .ages") ?? document.documentElement;
  const lists = [...document.querySelectorAll("[data-density]")].filter(
    (each) => each.scrollHeight > each.clientHeight,
  );
  return {
    window: document.documentElement.scrollWidth - innerWidth,
    content: content.scrollWidth - content.clientWidth,
    header: document.querySelector("header").scrollWidth - innerWidth,
    list: Math.min(...lists.map((each) => each.clientHeight), 10_000),
  };
}"""
_FITS = f"""(least) => {{
  const {{ window, content, header, list }} = ({_MEASURE})();
  return Math.max(window, content, header) <= 0 && list >= least;
}}"""
"""Drawings take the width of a window some frames after it has changed."""


def _places(published: Published) -> Iterator[str]:
    tasks = published.cluster.http.get("/api/v1/tasks", params={"supervisor": published.id})
    task, [worker] = (
        tasks.json()["tasks"][0]["id"],
        published.cluster.http.get("/api/v1/workers").json(),
    )
    yield from ("", "supervisors", "tasks", "tables", "workers", "queues", "work", "audit")
    yield from (f"workers/{worker['id']}", "audit/denied", "settings", "no/such/page")
    yield from ("logs", "logs/reports", "logs/dead-letters", "flows", "executions")
    http = published.cluster.http
    apply_flow(http, asking_flow("guests-day"))
    execution = start_flow(http, "guests-day", "one", day=DAY)
    await_asking(http, execution)
    [run] = asking_runs(http, execution)
    yield from ("flows/guests-day", "flows/guests-day?start=true")
    yield from (f"executions/{execution}", f"executions/{execution}?run={run}")
    tabs = "overview partitions timeline why spec history bad-records tasks events"
    yield from (f"supervisors/{published.id}/{tab}" for tab in tabs.split())
    yield f"supervisors/{published.id}/overview?do=reset&to=earliest"
    yield f"supervisors/{published.id}/overview?do=suspend"
    yield from (f"tasks/{task}/{tab}" for tab in ("summary", "log", "report", "payload"))
    tabs = "summary coverage time files exports rules code"
    yield from (f"tables/{published.id}/{tab}" for tab in tabs.split())


def test_no_page_is_wider_than_its_window(page: Page, published: Published) -> None:
    """Goal: nobody scrolls sideways to read a page, and no list is squeezed to nothing."""
    store_records(f"sqlite:///{published.cluster.folder}/metadata.db", failed_task(published.id))
    for place in _places(published):
        page.goto(f"/ui/{place}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        for size, (width, height) in _SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            try:
                page.wait_for_function(_FITS, arg=_LIST_MIN, timeout=HANGS_AFTER_S * 1_000)
            except Error as error:
                measured = page.evaluate(_MEASURE)
                raise AssertionError(f"{place} {size}: {measured}") from error


def test_a_narrow_window_hides_nothing(page: Page, published: Published) -> None:
    page.set_viewport_size({"width": 640, "height": 400})
    page.goto(f"/ui/supervisors/{published.id}/tasks?state=all")
    rows = page.get_by_role("table", name="Tasks").locator("tbody tr")
    rows.last.scroll_into_view_if_needed()
    expect(rows.last).to_be_in_viewport()
    assert_accessible(page)

    page.get_by_role("link", name="Settings").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Settings")
    page.goto(f"/ui/supervisors/{published.id}/overview?do=reset&to=earliest")
    dialog = page.get_by_role("dialog")
    button = dialog.get_by_role("button", name="Set offsets")
    button.scroll_into_view_if_needed()
    expect(button).to_be_in_viewport()
    assert_accessible(page)
