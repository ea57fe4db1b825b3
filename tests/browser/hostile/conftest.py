"""An overlord whose rows are full of hostile text, and a judge of the pages that show it."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Dialog, Page, expect
from pydantic import JsonValue

from supervisor.core.queue.events import FailedEvent, QueueName
from tests.browser.hostile.payloads import CONTROLS, LONG, PAYLOADS, shown
from tests.browser.planted.conftest import NOBODY, Planted, overlord, planted
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS

__all__ = ["overlord", "planted"]

CONTAINER = "table:<img src=x onerror=alert(1)>"
NAMES = ("constructor", "toString", "valueOf", "hasOwnProperty")
"""Supervisors and tables; names have letters, digits and `._-` alone."""

_WIDTHS = """() => {
  const content = document.querySelector("#content > .ages") ?? document.documentElement;
  const window = document.documentElement.scrollWidth - innerWidth;
  if (Math.max(window, content.scrollWidth - content.clientWidth) <= 0) {
    return [];
  }
  const edge = content.getBoundingClientRect().left + content.clientWidth;
  const scrolls = (each) => each !== content && /auto|scroll|hidden|clip/.test(
    getComputedStyle(each).overflowX
  );
  const inside = (each) => {
    for (let at = each; at !== null && at !== content; at = at.parentElement) {
      if (scrolls(at)) return true;
    }
    return false;
  };
  const wide = [...content.querySelectorAll("*")].filter(
    (each) => each.getBoundingClientRect().right > edge + 1 && !inside(each)
  );
  return wide.slice(-4).map((each) => `${each.tagName}.${each.className}`);
}"""
"""The last elements that reach beyond the page; none: it is as wide as its window."""


@dataclass
class Judge:
    """What a page did beside showing text."""

    page: Page
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin to listen, and close each dialog so that the test goes on."""
        self.page.on("dialog", self._close)

    def _close(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def go(self, address: str) -> None:
        """Open a page, and wait until it has loaded."""
        self.page.goto(address)
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        expect(self.page.get_by_role("status", name="Loading")).to_have_count(0)

    def shows(self, *texts: str) -> None:
        """Fail unless the page has each text as text."""
        for text in texts:
            expect(self.page.locator("body")).to_contain_text(shown(text))
        self.is_calm()

    def fits(self) -> None:
        """Fail if a text of others made the page wider than its window."""
        wide = self.page.evaluate(_WIDTHS)
        assert wide == [], f"{self.page.url[:200]} is wider than its window by {wide}"

    def is_calm(self) -> None:
        """Fail if a text of others became an element, a script, a dialog or a member of all."""
        page = self.page.evaluate(
            """() => ({
              scripts: [...document.querySelectorAll("script")].map((each) => each.src),
              elements: document.querySelectorAll(
                "#content iframe, #content img, #content base, #content object, #content form, "
                + "#content script, #content style, meta[http-equiv=refresh], [onerror], [onload]"
              ).length,
              links: [...document.querySelectorAll("a[href]")].map((each) => each.protocol),
              hostile: {}.hostile ?? null,
            })"""
        )
        origin = self.page.evaluate("location.origin")
        assert all(source.startswith(f"{origin}/ui/assets/") for source in page["scripts"]), page
        assert set(page["links"]) <= {"http:", "https:"}
        assert (page["elements"], page["hostile"], self.dialogs) == (0, None, [])


@pytest.fixture
def judge(page: Page) -> Judge:
    """The judge of one page, which is so high that each row is drawn."""
    page.set_viewport_size({"width": 1280, "height": 4_000})
    return Judge(page)


@pytest.fixture(scope="package")
def hostile(planted: Planted) -> Planted:
    """The overlord, with hostile text in specs, reasons, authors, queues and events."""
    for name in NAMES:
        _post(planted, name, "a name")
    for n, payload in enumerate(PAYLOADS):
        _post(planted, "hostile", payload, task_count=1 + n % 2)
    planted.kill(planted.queue(CONTAINER), " ".join(PAYLOADS[:6]))
    aside = planted.queue("supervisor:hostile")
    texts = (*PAYLOADS, *CONTROLS)
    with planted.writing() as tx:
        for n, text in enumerate(texts, 1):
            tx.events.set_aside(_failed(aside, n, text))
        long = _failed(aside, len(texts) + 1, "long")
        tx.events.set_aside(FailedEvent(**{**vars(long), "payload": LONG.encode()}))
    return planted


def _failed(queue: QueueName, seq: int, text: str) -> FailedEvent:
    now = datetime.now(UTC)
    payload = json.dumps({text: text}).encode()
    return FailedEvent(queue, seq, text[:60], payload, text, now, now, attempts=1)


def _post(planted: Planted, name: str, text: str, task_count: int = 1) -> None:
    document = spec(NOBODY, name, task_count=task_count)
    document["context"] = _context(text)
    author = text.encode("ascii", "ignore").decode().strip()
    answer = planted.overlord.http.post(
        SUPERVISORS, json=document, params={"reason": text}, headers={"X-Druid-Author": author}
    )
    if answer.is_client_error:  # a sign that reasons may not have: it is refused, so not shown
        assert "reason" in answer.text, answer.text
        document["context"] = {"refused": text}
        planted.overlord.http.post(SUPERVISORS, json=document).raise_for_status()


def _context(text: str) -> JsonValue:
    return {"text": text, text: [text]}


@pytest.fixture
def reasons(hostile: Planted) -> list[str]:
    """The reasons that the overlord took."""
    params = {"supervisor": "hostile", "limit": "1000"}
    entries = hostile.overlord.http.get("/api/v1/audit", params=params).json()["entries"]
    taken = [each["reason"] for each in entries if each["reason"]]
    assert len(taken) > len(PAYLOADS) // 2
    return taken
