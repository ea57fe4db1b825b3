"""One overlord over a planted fleet, and what a page of it costs: requests, bytes, elements."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.size.planting import fill
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import HANGS_AFTER_S, wait_until

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_STREAM = "/api/v1/events/stream"


@dataclass
class Wire:
    """What one page asks, and how much comes, from the moment that this listens."""

    page: Page
    asked: list[tuple[float, str]] = field(default_factory=list)
    """When, in seconds, and the path of each request to the API but the stream of events."""
    streams: int = 0
    received_bytes: int = 0
    """Of all answers with their heads, as they came: compressed."""

    def __post_init__(self) -> None:
        """Begin to listen."""
        session = self.page.context.new_cdp_session(self.page)
        session.on("Network.requestWillBeSent", self._ask)
        session.on("Network.responseReceived", self._begin)
        session.on("Network.dataReceived", self._receive)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def _ask(self, event: dict[str, Any]) -> None:
        path = urlsplit(event["request"]["url"]).path
        if path == _STREAM:
            self.streams += 1
        elif not path.startswith("/ui/"):
            self.asked.append((float(event["timestamp"]), path))

    def _begin(self, event: dict[str, Any]) -> None:
        self.received_bytes += event["response"]["encodedDataLength"]

    def _receive(self, event: dict[str, Any]) -> None:
        self.received_bytes += event["encodedDataLength"]

    def times_of(self, path: str) -> list[float]:
        """Return when a path was asked, in seconds."""
        return [at for at, each in self.asked if each == path]


@pytest.fixture(scope="package")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord without worker and broker; it has looked at each of the fleet."""
    folder = tmp_path_factory.mktemp("size")
    url = f"sqlite:///{folder / 'metadata.db'}"
    fill(url)
    with Overlords(folder, url) as overlords:
        leader = overlords.start()
        wait_until(leader.leads)
        wait_until(lambda: _settled(leader))
        yield leader


def _settled(overlord: Overlord) -> bool:
    totals = overlord.http.get("/api/v1/supervisors", params={"limit": 1}).json()["totals"]
    attention = overlord.http.get("/api/v1/overview").json()["attention"]
    return bool(totals) and "PENDING" not in totals and bool(attention)
