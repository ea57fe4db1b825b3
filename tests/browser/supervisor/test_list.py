"""The list of supervisors: filters, sorting, selection, one change for many; when nothing comes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, Route, expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.browser.accessible import assert_accessible
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_IDS = ("many-a", "many-b", "many-c")
_WHY = "night of the move"
_LISTED = "**/api/v1/supervisors?*"


@dataclass(frozen=True)
class Many:
    """Three supervisors that run."""

    overlord: Overlord

    def suspended(self) -> set[str]:
        """Return those that are suspended."""
        answer = self.overlord.http.get("/api/v1/supervisors", params={"q": "many-"})
        rows = answer.raise_for_status().json()["supervisors"]
        return {row["id"] for row in rows if row["suspended"]}

    def reasons(self) -> list[tuple[str, JsonValue]]:
        """Return whom a suspend was for, and why, as the audit log has it."""
        answer = self.overlord.http.get("/api/v1/audit", params={"action": "suspend"})
        entries = answer.raise_for_status().json()["entries"]
        return sorted((e["subject"], e["reason"]) for e in entries if e["subject"] in _IDS)


@pytest.fixture(scope="module")
def many(overlord: Overlord, broker: Broker) -> Iterator[Many]:
    """Start them once; they are ended afterwards."""
    for each in _IDS:
        create_topic(broker.bootstrap, each)
        document = spec(broker.bootstrap, each, task_count=1)
        overlord.http.post(SUPERVISORS, json=document).raise_for_status()
    listed = "/api/v1/supervisors?q=many-"
    wait_until(lambda: len(overlord.http.get(listed).json()["supervisors"]) == len(_IDS))
    yield Many(overlord)
    for each in _IDS:
        overlord.http.post(f"{SUPERVISORS}/{each}/terminate").raise_for_status()


@pytest.mark.usefixtures("many")
def test_filters_and_sorting_are_in_the_address(page: Page) -> None:
    page.goto("/ui/supervisors")
    rows = page.get_by_role("table", name="Supervisors").locator("tbody tr")
    page.get_by_label("Name, table or topic").fill("many-")
    expect(rows).to_have_count(len(_IDS))
    expect(page).to_have_url(re.compile("q=many-"))
    page.get_by_role("columnheader", name="Supervisor").get_by_role("button").first.click()
    expect(page).to_have_url(re.compile("sort="))
    page.reload()
    expect(rows).to_have_count(len(_IDS))
    names = [row.get_by_role("link").first.inner_text() for row in rows.all()]
    assert names in (list(_IDS), list(reversed(_IDS)))

    page.get_by_label("Name, table or topic").fill("many-x")
    expect(page.get_by_text("supervisors fit the filters.")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(re.compile(r"/ui/supervisors$"))


def test_many_are_suspended_with_one_reason_and_a_result_for_each(
    page: Page, many: Many, watch: Watch
) -> None:
    """Goal: somebody else suspends one of them: it fails alone, is first, and is tried again."""
    page.goto("/ui/supervisors?q=many-&sort=id")
    for each in _IDS:
        page.get_by_label(f"Select {each}").check()
    page.get_by_role("toolbar").get_by_role("button", name="Suspend…").click()
    dialog = page.get_by_role("dialog", name="Suspend 3 supervisors")
    dialog.get_by_label("Reason").fill(_WHY)
    assert_accessible(page)
    path = f"{SUPERVISORS}/many-b/suspend"
    many.overlord.http.post(path, params={"reason": "mine"}).raise_for_status()
    watch.expect_status(400, path)

    dialog.get_by_role("button", name="Suspend", exact=True).click()

    expect(dialog.get_by_text("2 done, 1 failed, 0 to go")).to_be_visible()
    outcomes = dialog.get_by_role("region", name="What became of each").get_by_role("listitem")
    expect(outcomes.first).to_contain_text("failed")
    expect(outcomes.first).to_contain_text("many-b")
    assert_accessible(page)
    many.overlord.http.post(f"{SUPERVISORS}/many-b/resume").raise_for_status()
    dialog.get_by_role("button", name="Try the failed again").click()
    expect(dialog.get_by_text("3 done, 0 failed, 0 to go")).to_be_visible()
    wait_until(lambda: many.suspended() == set(_IDS))
    assert many.reasons() == [
        ("many-a", _WHY),
        ("many-b", "mine"),
        ("many-b", _WHY),
        ("many-c", _WHY),
    ]


def test_a_list_that_does_not_come_says_so(page: Page, many: Many, watch: Watch) -> None:
    assert many.overlord.serves()
    held: list[Route] = []
    page.route(_LISTED, lambda route: held.append(route))  # noqa: PLW0108 -- Playwright takes no method of a list
    page.goto("/ui/supervisors")
    expect(page.get_by_role("main").get_by_role("status", name="Loading")).to_be_visible()
    assert_accessible(page)
    watch.expect_console("net::ERR_CONNECTION_REFUSED")
    page.route(_LISTED, lambda route: route.abort("connectionrefused"))  # before the first one
    for route in held:
        route.abort("connectionrefused")

    expect(page.get_by_role("alert")).to_contain_text("No answer")
    assert_accessible(page)
    page.unroute(_LISTED)
    page.get_by_role("button", name="Try again").first.click()

    expect(page.get_by_role("table", name="Supervisors")).to_be_visible()
