"""Every page outlives the overlord, Kafka and a sleep of the laptop, without a reload.

Slow: each page is a tab of one browser, and three parts end and come back.
"""

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from tests.browser.contact.conftest import Site
from tests.browser.contact.places import every_address
from tests.browser.watch import Watch

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.long]

_SLEEP_MS = 600_000
_REFUSED = "Failed to load resource: net::ERR_"
"""Chromium's line for a request to an overlord that is away."""
_ROWS = """() => [...document.querySelectorAll("table")].map((table) =>
  [...table.querySelectorAll("tr[data-row]")].map((row) => row.dataset.row))"""


@dataclass
class Tabs:
    """All pages of the console, each in a tab of one browser."""

    context: BrowserContext
    pages: dict[str, Page] = field(default_factory=dict)
    answered: set[Page] = field(default_factory=set)
    """Pages that had a good answer since the set was emptied."""
    streams: int = 0
    """Streams of events that were begun."""

    def __post_init__(self) -> None:
        """Begin to listen."""
        self.context.on("response", self._note)

    def open(self, address: str) -> None:
        """Open a page, and mark it: the mark is gone if it is loaded again."""
        page = self.context.new_page()
        page.goto(address, wait_until="commit")
        page.evaluate("window.notReloaded = true")
        self.pages[address] = page

    def expect_in_all(self, part: Callable[[Page], Locator]) -> None:
        """Wait until each page shows this part."""
        for address, page in self.pages.items():
            expect(part(page), address).to_be_visible()

    def expect_healed(self) -> None:
        """Wait until each page is live, asks and is answered, and shows each row once."""
        for address, page in self.pages.items():
            expect(_in_header(page, "live"), address).to_be_visible()
        self.answered.clear()
        for address, page in self.pages.items():
            expect(page.get_by_text("No answer", exact=True), address).to_have_count(0)
            expect(page.get_by_text("This part of the page failed"), address).to_have_count(0)
            while page not in self.answered:
                page.wait_for_event("response")
            assert page.evaluate("window.notReloaded") is True, address
            for rows in page.evaluate(_ROWS):
                assert len(rows) == len(set(rows)), f"{address} shows a row twice: {rows}"

    def _note(self, response: Response) -> None:
        if response.ok:
            self.answered.add(response.frame.page)
            self.streams += "/events/stream" in response.url


def _in_header(page: Page, words: str) -> Locator:
    return page.get_by_role("banner").get_by_text(re.compile(f"^{words}$"))


def test_it_says_what_is_away_and_heals_by_itself(
    context: BrowserContext, watch: Watch, reading: Site
) -> None:
    tabs, site = Tabs(context), reading
    watch.allow_status(404, "/druid/indexer/v1/task/")  # a worker without a JVM has no report
    for stored in ("/api/v1/logs", "/api/v1/reports"):  # by a persister; here is none
        watch.allow_status(404, stored)
    context.clock.install()
    for address in every_address(site.names()):
        tabs.open(address)
    tabs.expect_healed()
    assert tabs.streams == 1, "one stream, however many tabs"

    watch.allow_status(503, "/")
    watch.allow_console(_REFUSED)
    site.cluster.kill("overlord")
    tabs.expect_in_all(lambda page: _in_header(page, "(reconnecting|stale since) .*"))
    site.cluster.start_overlord()
    tabs.expect_healed()

    site.broker.stop()
    tabs.expect_in_all(lambda page: page.get_by_text("Kafka does not answer at"))
    site.broker.start()
    for address, page in tabs.pages.items():
        expect(page.get_by_text("Kafka does not answer at"), address).to_have_count(0)
    tabs.expect_healed()

    site.cluster.freeze("overlord")
    context.clock.fast_forward(_SLEEP_MS)
    tabs.expect_in_all(lambda page: _in_header(page, "stale since .*"))
    _expect_barred(tabs, site)
    site.cluster.children["overlord"].signal(signal.SIGCONT)
    tabs.expect_healed()
    _expect_fresh(tabs, site)


def _expect_barred(tabs: Tabs, site: Site) -> None:
    """Fail unless old numbers are grey on all pages, and nothing can be changed by them."""
    for address, page in tabs.pages.items():
        expect(page.locator("[data-stale=true]"), address).to_have_count(1)
        if address.startswith(f"/ui/supervisors/{site.id}/"):
            barred = page.get_by_role("button", name="Suspend…").last
            expect(barred, address).to_have_attribute("aria-disabled", "true")


def _expect_fresh(tabs: Tabs, site: Site) -> None:
    """Change something behind all pages: each shows it by itself, once."""
    site.cluster.post(site.id, "suspend")
    for address, page in tabs.pages.items():
        expect(page.locator("[data-stale=true]"), address).to_have_count(0)
        if address.startswith(f"/ui/supervisors/{site.id}/"):
            expect(page.get_by_role("button", name="Resume…").last, address).to_be_visible()
    events = tabs.pages[f"/ui/supervisors/{site.id}/events"]
    expect(events.locator(f'tr[data-row="{_suspended(site)}"]')).to_have_count(1)


def _suspended(site: Site) -> str:
    """Return the id of the newest event of a suspension."""
    params = {"supervisor": site.id, "type": "supervisor-suspended", "limit": "1"}
    answer = site.cluster.http.get("/api/v1/events", params=params).raise_for_status()
    return str(answer.json()["events"][0]["id"])
