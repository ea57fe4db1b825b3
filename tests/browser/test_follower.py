"""A follower's console: it shows what the leader does, passes changes on, and outlives the leader.

Slow: two overlords start, and one of them has to notice that the other is gone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from supervisor.dev.broker import Broker
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import HANGS_AFTER_S, wait_until

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_TABS = 8
"""More than the connections that a browser has to one server (HTTP/1.1)."""
_NAME = "payments"


@dataclass(frozen=True)
class Pair:
    """A leader, and the follower whose pages are opened."""

    leader: Overlord
    follower: Overlord

    def is_suspended(self, by: Overlord) -> bool:
        """Whether an overlord's answer is that the supervisor is suspended."""
        answer = by.http.get(f"{SUPERVISORS}/{_NAME}/status").raise_for_status()
        return answer.json()["payload"]["suspended"] is True


@pytest.fixture(scope="module")
def pair(_built: None, broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two overlords of one database, with a supervisor of a real topic."""
    folder = tmp_path_factory.mktemp("followed")
    create_topic(broker.bootstrap, _NAME, partitions=1)
    more = {"TIDEGATE_LEASE_TTL": "PT5S", "TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    with Overlords(folder, f"sqlite:///{folder / 'metadata.db'}", more=more) as overlords:
        leader, follower = overlords.leader_and_follower()
        document = spec(broker.bootstrap, _NAME, task_count=1)
        leader.http.post(SUPERVISORS, json=document).raise_for_status()
        yield Pair(leader, follower)


@pytest.fixture(scope="module")
def overlord(pair: Pair) -> Overlord:
    """The follower: each page of these tests is its own."""
    return pair.follower


def test_a_follower_s_tabs_act_report_silence_and_outlive_the_leader(
    context: BrowserContext, watch: Watch, pair: Pair
) -> None:
    """Goal: eight tabs show what one of them has the leader do, and none has to be reloaded."""
    watch.allow_status(503, "/")  # between two leaders, and they come again by themselves
    tabs = [context.new_page() for _ in range(_TABS)]
    for tab in tabs:
        tab.goto(f"/ui/supervisors/{_NAME}/overview")
    _expect_in_all(tabs, "live")

    _change(tabs[0], "Suspend")
    _expect_all_offer(tabs, "Resume…")
    assert pair.is_suspended(pair.leader)
    _change(tabs[-1], "Resume")
    _expect_all_offer(tabs, "Suspend…")
    assert not pair.is_suspended(pair.leader)

    pair.follower.freeze()
    try:
        stale = tabs[-1].get_by_text(re.compile("^stale since"))
        expect(stale).to_be_visible()
    finally:
        pair.follower.go_on()
    _expect_in_all(tabs, "live")

    pair.leader.child.kill()
    wait_until(pair.follower.leads)
    _change(tabs[0], "Suspend")
    _expect_all_offer(tabs, "Resume…")
    assert pair.is_suspended(pair.follower)


def _expect_in_all(tabs: list[Page], words: str) -> None:
    for tab in tabs:
        expect(tab.get_by_text(words, exact=True)).to_be_visible()


def _expect_all_offer(tabs: list[Page], button: str) -> None:
    for tab in tabs:
        expect(tab.get_by_role("button", name=button).first).to_be_visible()


def _change(page: Page, verb: str) -> None:
    page.get_by_role("button", name=f"{verb}…").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=verb, exact=True).click()
    expect(dialog).to_have_count(0)
