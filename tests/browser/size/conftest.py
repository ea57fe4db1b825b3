"""One overlord over a planted fleet."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.size.planting import fill
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import HANGS_AFTER_S, wait_until

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)


@pytest.fixture(scope="package")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord without worker and broker; it has looked at each of the fleet."""
    folder = tmp_path_factory.mktemp("size")
    url = f"sqlite:///{folder / 'metadata.db'}"
    fill(url)
    with Overlords(folder, url) as overlords:
        leader = overlords.start_leader()
        wait_until(lambda: _settled(leader))
        yield leader


def _settled(overlord: Overlord) -> bool:
    totals = overlord.http.get("/api/v1/supervisors", params={"limit": 1}).json()["totals"]
    attention = overlord.http.get("/api/v1/overview").json()["attention"]
    return bool(totals) and "PENDING" not in totals and bool(attention)
