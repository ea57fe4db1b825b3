"""What a page of a thousand supervisors asks for while nothing happens, by a clock of the test.

The fleet's broker is away, and the leader notes that of one supervisor after the other: the stream
leaves these events out, or each would refresh the page.  The page's clock stands still but for
the steps of the test: what it asks in 30 s of its time does not depend on the machine.

Slow: an overlord looks at each of a thousand supervisors once.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Route

from tests.browser.size.wire import Wire
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.long]

_REQUESTS_MAX, _FIRST_BYTES_MAX, _ELEMENTS_MAX = 8, 400 * 1024, 2_500
_POLL_S = 5
"""One request in this time, whatever the page shows: section 10, point 13."""
_LIFE_S = 30
"""Of the page's clock; shorter than the 45 s after which a silent stream is begun anew."""
_WIDE = "/api/v1/supervisors/wide/partitions"
_STEP_MS = 100
_REFRESH_MS = 2_000
"""A page asks once more after its stream of events has begun: by then it has."""
_POLL_BYTES_MAX = 64 * 1024
"""Of one answer to a poll with all else that comes meanwhile."""


def _follow_quietly(route: Route) -> None:
    """Have the stream give a type of event that does not come here, and its heartbeats."""
    route.continue_(url=f"{route.request.url.partition('?')[0]}?type=replicas-diverged")


def _is_drawn(page: Page, wire: Wire) -> bool:
    """Whether the first rows are there and all answers have come; else the page's time goes on."""
    if wire.is_quiet() and page.get_by_role("table").locator("tbody tr").count():
        return True
    if wire.is_quiet():
        page.clock.run_for(_STEP_MS)
    return False


@pytest.mark.parametrize(
    ("address", "polled", "rows", "brought"),
    [
        ("/ui/supervisors", "/api/v1/supervisors", "limit=200", {"overview"}),
        ("/ui/supervisors", "/api/v1/supervisors", "limit=1000", {"overview"}),
        ("/ui/supervisors/wide/partitions", _WIDE, "limit=", {"overview", "row", "explanation"}),
    ],
    ids=["first rows", "all rows", "partitions"],
)
def test_a_page_of_many_costs_little_and_polls_at_its_pace(
    page: Page, address: str, polled: str, rows: str, brought: set[str]
) -> None:
    wire = Wire(page)
    page.route("**/api/v1/events/stream?*", _follow_quietly)
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=1))
    page.goto(address)
    wait_until(lambda: _is_drawn(page, wire))
    assert len(wire.asked) <= _REQUESTS_MAX, wire.asked
    assert wire.received_bytes <= _FIRST_BYTES_MAX
    assert page.locator("*").count() <= _ELEMENTS_MAX
    wait_until(lambda: _shows(page, wire, rows))
    wait_until(lambda: wire.is_quiet() and wire.streams_open > 0)
    page.clock.run_for(_REFRESH_MS)
    wait_until(wire.is_quiet)
    first, streams, bytes_before = len(wire.asked), wire.streams, wire.received_bytes

    for _ in range(_LIFE_S):
        page.clock.run_for(1_000)
        wait_until(wire.is_quiet)

    polls = _LIFE_S // _POLL_S
    assert Counter(wire.asked[first:]) == {polled: polls}, "no more, and no less"
    along = {name for query in wire.queries[first:] for name in parse_qs(query).get("along", [])}
    assert along == brought, "what the frame shows is as new as ever"
    assert wire.received_bytes - bytes_before <= polls * _POLL_BYTES_MAX
    assert wire.streams == streams == 1
    assert page.locator("*").count() <= _ELEMENTS_MAX


def _shows(page: Page, wire: Wire, rows: str) -> bool:
    """Whether the page has asked for so many rows; else it is scrolled, and its time goes on."""
    if wire.is_quiet() and any(rows in query for query in wire.queries):
        return True
    page.get_by_role("table").evaluate(
        "it => { it.parentElement.scrollTop = it.parentElement.scrollHeight; }"
    )
    page.clock.run_for(_STEP_MS)
    return False
