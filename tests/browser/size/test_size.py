"""A thousand supervisors, two thousand partitions, fifty thousand ranges: what a page draws.

Slow: fifty thousand rows are scrolled through, one screen after another.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.size.planting import FLEET, PARTITIONS, RANGES, SHORT, TOPICS

pytestmark = [pytest.mark.process, pytest.mark.long]

_ELEMENTS_MAX = 2_500


def _elements(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('*').length"))


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
