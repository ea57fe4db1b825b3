"""The traffic of one page: its requests to the API, and the bytes that come."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

__all__ = ["Wire"]

_STREAM = "/api/v1/events/stream"
_OURS = "/api/", "/druid/", "/status"


@dataclass
class Wire:
    """Listens to one page from the moment that this is made."""

    page: Page
    asked: list[str] = field(default_factory=list)
    """The path of each request to the API, but for the stream of events."""
    queries: list[str] = field(default_factory=list)
    """The query of each of them."""
    streams: int = 0
    """How often the stream of events was begun."""
    streams_open: int = 0
    """How many of them the overlord has begun to answer."""
    received_bytes: int = 0
    """Of all answers with their heads, as they came: compressed."""
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin to listen."""
        session = self.page.context.new_cdp_session(self.page)
        session.on("Network.requestWillBeSent", self._ask)
        session.on("Network.responseReceived", self._begin)
        session.on("Network.dataReceived", self._receive)
        session.on("Network.loadingFinished", self._end)
        session.on("Network.loadingFailed", self._end)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def is_quiet(self) -> bool:
        """Whether each request that the page has made by now has come to an end."""
        self.page.evaluate("0")  # events that came before its answer are heard first
        return not self._open

    def _ask(self, event: dict[str, Any]) -> None:
        _, _, path, query, _ = urlsplit(event["request"]["url"])
        if path == _STREAM:
            self.streams += 1
            return
        self._open.add(event["requestId"])
        if path.startswith(_OURS):
            self.asked.append(path)
            self.queries.append(query)

    def _begin(self, event: dict[str, Any]) -> None:
        self.received_bytes += event["response"]["encodedDataLength"]
        self.streams_open += urlsplit(event["response"]["url"]).path == _STREAM

    def _receive(self, event: dict[str, Any]) -> None:
        self.received_bytes += event["encodedDataLength"]

    def _end(self, event: dict[str, Any]) -> None:
        self._open.discard(event["requestId"])
