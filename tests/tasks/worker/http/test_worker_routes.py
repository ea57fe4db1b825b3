"""Whether a worker takes tasks, as its control API tells: an overlord decides, it only says so."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tasks.contract.messages import SyncResponse
from tests.tasks.memory import desired
from tests.tasks.worker.worker_site import Site
from tests.waiting import wait_until

BASE = "/druid/worker/v1"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    new_site = Site(tmp_path)
    yield new_site
    new_site.engine.release()
    new_site.end()


def test_a_worker_says_that_it_is_enabled_until_an_overlord_says_otherwise(site: Site) -> None:
    """Source: Druid 33's list of workers: `{"host:port": true}`."""
    worker = site.start()
    address = worker.url.removeprefix("http://")
    assert httpx.get(f"{worker.url}{BASE}/enabled").json() == {address: True}

    site.overlord.disabled = True
    site.overlord.list(desired("task-1"))

    wait_until(lambda: httpx.get(f"{worker.url}{BASE}/enabled").json() == {address: False})


@pytest.mark.parametrize("verb", ["enable", "disable"])
def test_the_overlord_is_who_decides(site: Site, verb: str) -> None:
    worker = site.start()

    answer = httpx.post(f"{worker.url}{BASE}/{verb}")

    assert answer.status_code == 400
    address = worker.url.removeprefix("http://")
    assert f"/druid/indexer/v1/worker/{address}/{verb}" in answer.json()["error"]


def test_an_answer_says_nothing_of_it_unless_it_is_so() -> None:
    assert not SyncResponse(term=1, revision="x", tasks=()).disabled
