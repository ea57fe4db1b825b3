"""A thousand supervisors, two thousand partitions, fifty thousand ranges: what a page costs."""

from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.size.conftest import Wire
from tests.browser.size.planting import FLEET, PARTITIONS, RANGES, SHORT, TOPICS
from tests.browser.watch import Watch

pytestmark = pytest.mark.process

_REQUESTS_MAX, _BYTES_MAX, _ELEMENTS_MAX = 8, 400 * 1024, 2_500
_POLL_S, _POLLS = 5, 2
_NET = 5
"""Requests of the frame and of a supervisor's head, each of them once in half a minute."""
_PAGES = {
    "/ui/": "/api/v1/overview",
    "/ui/supervisors": "/api/v1/supervisors",
    "/ui/supervisors/wide/partitions": "/api/v1/supervisors/wide/partitions",
}
"""Page -> what it polls."""


def _elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


def _first_rows(page: Page) -> Locator:
    """Return what a page shows first."""
    home = page.get_by_role("region", name="Needs somebody").get_by_role("listitem")
    return page.get_by_role("table").locator("tbody tr").or_(home).first


def test_pages_of_many_cost_little_and_poll_seldom(watch: Watch) -> None:
    """Goal: the budget of requests, bytes and elements, and one stream for all tabs."""
    wires: dict[str, Wire] = {}
    for path in _PAGES:
        page = watch.context.new_page()
        wire = wires[path] = Wire(page)
        page.goto(path)
        expect(_first_rows(page)).to_be_visible()
        assert len(wire.asked) <= _REQUESTS_MAX, wire.asked
        assert wire.received_bytes <= _BYTES_MAX
        assert _elements(page) <= _ELEMENTS_MAX

    begun = {path: len(wires[path].times_of(polled)) for path, polled in _PAGES.items()}
    for path, polled in _PAGES.items():
        wire = wires[path]
        while len(wire.times_of(polled)) < begun[path] + _POLLS:
            wire.page.wait_for_event("requestfinished")  # all pages poll meanwhile
    for path, polled in _PAGES.items():
        wire = wires[path]
        times = wire.times_of(polled)[begun[path] :][:_POLLS]
        assert all(after - before > 0.9 * _POLL_S for before, after in pairwise(times))
        others = [each for at, each in wire.asked if times[0] <= at <= times[-1] and each != polled]
        assert len(others) == len(set(others)), others
        assert len(others) <= _NET, others
        assert _elements(wire.page) <= _ELEMENTS_MAX
    assert sum(wire.streams for wire in wires.values()) == 1


def test_lists_scroll_to_their_ends(page: Page) -> None:
    page.goto("/ui/supervisors?sort=id")
    _scrolls(page, "Supervisors", FLEET + 3)
    page.goto("/ui/supervisors/wide/partitions")
    _scrolls(page, "Partitions", PARTITIONS * len(TOPICS))


def test_a_history_of_many_ranges_scrolls(page: Page) -> None:
    page.goto("/ui/supervisors/long/timeline?window=24h")
    expect(page.get_by_text("it has more than can be shown at once")).to_be_visible()
    assert _elements(page) <= _ELEMENTS_MAX
    page.get_by_role("button", name="Show as a table").click()
    _scrolls(page, "Ranges", 10_000)
    page.goto("/ui/supervisors/long/tasks?state=succeeded")
    _scrolls(page, "Tasks", RANGES)


def _scrolls(page: Page, name: str, rows: int) -> None:
    """Scroll a table to its end, again and again until all rows have come."""
    table = page.get_by_role("table", name=name)
    expect(table.locator("tbody tr").first).to_be_visible()
    for _ in range(rows):
        elements = _elements(page)
        assert elements <= _ELEMENTS_MAX, elements
        known = int(table.get_attribute("aria-rowcount") or 0)
        if known == rows + 1 and table.locator(f"tr[aria-rowindex='{known}']").count():
            return
        table.evaluate("it => { it.parentElement.scrollTop = it.parentElement.scrollHeight; }")
        page.evaluate("() => new Promise(requestAnimationFrame)")
    pytest.fail("the end does not come")


def test_a_short_name_is_not_lost_among_longer_ones(page: Page) -> None:
    page.goto(f"/ui/supervisors/{SHORT}/overview")
    expect(page.get_by_text(f"topic {SHORT} into table {SHORT}")).to_be_visible()
    expect(page.get_by_role("button", name="Resume…").first).to_be_visible()
