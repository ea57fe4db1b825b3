"""The list of supervisors: filters, sorting, selection, one change for many; when nothing comes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
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
    ids: tuple[str, ...] = _IDS

    def suspended(self) -> set[str]:
        """Return those that are suspended."""
        answer = self.overlord.http.get("/api/v1/supervisors", params={"q": self.ids[0][:-1]})
        rows = answer.raise_for_status().json()["supervisors"]
        return {row["id"] for row in rows if row["suspended"]}

    def reasons(self) -> list[tuple[str, JsonValue]]:
        """Return whom a suspend was for, and why, as the audit log has it."""
        answer = self.overlord.http.get("/api/v1/audit", params={"action": "suspend"})
        entries = answer.raise_for_status().json()["entries"]
        return sorted((e["subject"], e["reason"]) for e in entries if e["subject"] in self.ids)

    def has_range(self, supervisor_id: str) -> bool:
        """Return whether its range is open: from then on what a suspend does stays the same."""
        path = f"{SUPERVISORS}/{supervisor_id}/suspend"
        preview = self.overlord.http.post(path, params={"dryRun": "true"}).raise_for_status()
        return len(preview.json()["publishes"]) == 1


@contextmanager
def _started(many: Many, broker: Broker) -> Iterator[Many]:
    """Start them once, and wait for their ranges; they are ended afterwards."""
    http = many.overlord.http
    for each in many.ids:
        create_topic(broker.bootstrap, each)
        document = spec(broker.bootstrap, each, task_count=1)
        http.post(SUPERVISORS, json=document).raise_for_status()
    listed = f"/api/v1/supervisors?q={many.ids[0][:-1]}"
    wait_until(lambda: len(http.get(listed).json()["supervisors"]) == len(many.ids))
    wait_until(lambda: all(many.has_range(each) for each in many.ids))
    yield many
    for each in many.ids:
        http.post(f"{SUPERVISORS}/{each}/terminate").raise_for_status()


@pytest.fixture(scope="module")
def many(overlord: Overlord, broker: Broker) -> Iterator[Many]:
    """Three for all tests."""
    with _started(Many(overlord), broker) as started:
        yield started


@pytest.fixture
def previewed(overlord: Overlord, broker: Broker) -> Iterator[Many]:
    """Three more for one test."""
    with _started(Many(overlord, ("shown-a", "shown-b", "shown-c")), broker) as started:
        yield started


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
    expect(dialog.get_by_text("3 would change, 0 would be left as they are")).to_be_visible()
    dialog.get_by_label("Reason").fill(_WHY)
    assert_accessible(page)
    path = f"{SUPERVISORS}/many-b/suspend"
    many.overlord.http.post(path, params={"reason": "mine"}).raise_for_status()
    watch.expect_status(400, path)

    with page.expect_response(lambda each: path in each.url and each.status == 400) as refused:
        dialog.get_by_role("button", name="Suspend", exact=True).click()

    expect(dialog.get_by_text("2 done, 1 failed, 0 to go")).to_be_visible()
    outcomes = dialog.get_by_role("region", name="What became of each").get_by_role("listitem")
    expect(outcomes.first).to_contain_text("failed")
    expect(outcomes.first).to_contain_text("many-b")
    outcomes.first.get_by_text("details", exact=True).click()
    request = refused.value.headers["x-request-id"]
    expect(outcomes.first.get_by_text(f"request {request}")).to_be_visible()
    assert_accessible(page)
    many.overlord.http.post(f"{SUPERVISORS}/many-b/resume").raise_for_status()
    wait_until(lambda: many.has_range("many-b"))  # another one than was shown
    watch.expect_status(409, path)
    again = dialog.get_by_role("button", name="Try the failed again")
    again.click()
    expect(outcomes.first).to_contain_text("Now: 1 range hands off")
    again.click()
    expect(dialog.get_by_text("3 done, 0 failed, 0 to go")).to_be_visible()
    wait_until(lambda: many.suspended() == set(_IDS))
    assert many.reasons() == [
        ("many-a", _WHY),
        ("many-b", "mine"),
        ("many-b", _WHY),
        ("many-c", _WHY),
    ]


def test_of_many_those_that_are_suspended_are_left_and_the_others_bound_to_what_was_shown(
    page: Page, previewed: Many, watch: Watch
) -> None:
    """Goal: what would be done otherwise by then is not done, and is shown before another try."""
    path = f"{SUPERVISORS}/shown-a/suspend"
    previewed.overlord.http.post(path).raise_for_status()
    page.goto("/ui/supervisors?q=shown-&sort=id")
    for each in previewed.ids:
        page.get_by_label(f"Select {each}").check()
    watch.expect_status(400, path)
    page.get_by_role("toolbar").get_by_role("button", name="Suspend…").click()
    dialog = page.get_by_role("dialog", name="Suspend 3 supervisors")
    expect(dialog.get_by_text("2 would change, 1 would be left as they are")).to_be_visible()
    effects = dialog.get_by_role("region", name="What would become of each").get_by_role("listitem")
    expect(effects.first).to_contain_text("shown-a")
    expect(effects.last).to_contain_text("shown-c 1 range hands off")
    assert_accessible(page)
    sent: list[str] = []

    def outdated(route: Route) -> None:
        """Have the overlord hold it against another preview, once."""
        sent.append(route.request.url)
        other = re.sub("expect=[0-9a-f]+", f"expect={'0' * 32}", route.request.url)
        route.continue_(url=other if len(sent) == 1 else None)

    page.route(re.compile("shown-b/suspend.*expect="), outdated)
    watch.expect_status(409, f"{SUPERVISORS}/shown-b/suspend")

    dialog.get_by_role("button", name="Suspend", exact=True).click()

    expect(dialog.get_by_text("1 done, 1 failed, 0 to go")).to_be_visible()
    outcomes = dialog.get_by_role("region", name="What became of each").get_by_role("listitem")
    expect(outcomes.first).to_contain_text("Now: 1 range hands off")
    assert_accessible(page)
    dialog.get_by_role("button", name="Try the failed again").click()
    expect(dialog.get_by_text("2 done, 0 failed, 0 to go")).to_be_visible()
    wait_until(lambda: previewed.suspended() == set(previewed.ids))
    assert len(sent) == 2


def test_above_old_rows_a_problem_has_its_hint_and_its_request(
    page: Page, many: Many, watch: Watch
) -> None:
    page.goto("/ui/supervisors?q=many-")
    expect(page.get_by_role("link", name=many.ids[0])).to_be_visible()
    wrong = {"pointer": "/q", "message": "is odd", "hint": "write it anew"}
    body = {"title": "It broke", "detail": "in the middle", "errors": [wrong]}
    headers = {"X-Request-Id": "r-17", "Content-Type": "application/problem+json"}
    watch.expect_status(500, "/api/v1/supervisors")

    page.route(_LISTED, lambda route: route.fulfill(status=500, json=body, headers=headers))

    strip = page.get_by_role("status").filter(has_text="It broke")
    expect(strip).to_contain_text("in the middle")
    expect(strip.get_by_text("request r-17")).to_be_hidden()
    strip.get_by_text("details", exact=True).click()
    expect(strip.get_by_text("request r-17")).to_be_visible()
    expect(strip).to_contain_text("/q is odd write it anew")
    expect(page.get_by_role("link", name=many.ids[0])).to_be_visible()
    assert_accessible(page)


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


def test_a_list_that_is_refused_has_the_hint_the_request_and_another_try(
    page: Page, many: Many, watch: Watch
) -> None:
    wrong = {"pointer": "/", "message": "nobody leads", "hint": "wait for the next leader"}
    body = {"title": "No overlord leads", "detail": "the lease is over", "errors": [wrong]}
    headers = {"X-Request-Id": "r-18", "Content-Type": "application/problem+json"}
    page.route(_LISTED, lambda route: route.fulfill(status=503, json=body, headers=headers))
    watch.expect_status(503, "/api/v1/supervisors")

    page.goto("/ui/supervisors?q=many-")

    alert = page.get_by_role("main").get_by_role("alert")
    for text in ("No overlord leads", "the lease is over", "nobody leads", "next leader"):
        expect(alert).to_contain_text(text)
    expect(alert).to_contain_text("request r-18")
    assert_accessible(page)
    page.unroute(_LISTED)
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("link", name=many.ids[0])).to_be_visible()
