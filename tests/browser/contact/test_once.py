"""A change is done once, though it is clicked twice, and its answer or the overlord is lost."""

import re
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.contact.conftest import Site
from tests.browser.watch import Watch
from tests.environment.brokers import produce
from tests.integration.cluster import SUPERVISORS
from tests.integration.oracle import record
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_WORKER = "/druid/indexer/v1/worker/w1"
_LOST = "net::ERR_CONNECTION_RESET"
_REFUSED = "Failed to load resource: net::ERR_"


@dataclass(frozen=True)
class Verb:
    """A verb of the console: where its dialog is opened, and the words on its buttons."""

    page: str
    opens: str | re.Pattern[str]
    does: str
    path: str
    """How the path of its request ends."""


_PAGE = "/ui/supervisors/{id}/events"
_SUSPEND = Verb(_PAGE, "Suspend…", "Suspend", "suspend")
_RESUME = Verb(_PAGE, "Resume…", "Resume", "resume")
_HANDOFF = Verb(_PAGE, "Hand off…", "Hand off", "handoff")
_END = Verb("/ui/tasks/{task}/payload", "End task…", "End task", "shutdown")
_OUT = Verb("/ui/workers/w1", "Take out…", "Take out", "disable")
_BACK = Verb("/ui/workers/w1", "Bring back…", "Enable", "enable")
_UNUSED = Verb("/ui/tables/{id}/files", re.compile(r"^Take out \d+…$"), "Take out", "markUnused")


def _reasons(site: Site, why: str) -> list[str]:
    """Return the actions that are on record with this reason."""
    answer = site.cluster.http.get("/api/v1/audit", params={"limit": 100}).raise_for_status()
    return [each["action"] for each in answer.json()["entries"] if each["reason"] == why]


def _open(page: Page, site: Site, verb: Verb, why: str) -> Locator:
    task = site.names().task if verb is _END else ""
    page.goto(verb.page.format(id=site.id, task=quote(task)))
    if verb is _UNUSED:
        page.get_by_role("checkbox", name="Select all rows that are shown").check()
    page.get_by_role("button", name=verb.opens).last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Command line")).to_be_visible()
    dialog.get_by_label("Reason").fill(why)
    if verb is _UNUSED:
        words = dialog.locator("label").filter(has_text="to confirm").inner_text()
        dialog.get_by_label("to confirm").fill(re.findall(r"\d+", words)[0])
    return dialog


@pytest.mark.parametrize(
    "verb", [_SUSPEND, _RESUME, _END, _OUT, _BACK, _UNUSED], ids=lambda verb: verb.path
)
def test_two_clicks_and_a_lost_answer_do_it_once(
    page: Page, watch: Watch, reading: Site, verb: Verb
) -> None:
    """Goal: the connection breaks behind the commit; the page asks again by itself, and says so."""
    before = {"resume": f"{SUPERVISORS}/{reading.id}/suspend", "enable": f"{_WORKER}/disable"}
    if verb.path in before:
        reading.cluster.http.post(before[verb.path]).raise_for_status()
    keys: list[str] = []

    def lose_the_first(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            assert route.fetch().ok
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(re.compile(rf"/{verb.path}\?(?!.*dryRun)"), lose_the_first)
    watch.expect_console(_LOST)
    watch.allow_status(404, "/druid/indexer/v1/task/")  # a worker without a JVM has no report
    why = f"once: {verb.path}"
    dialog = _open(page, reading, verb, why)

    dialog.get_by_role("button", name=verb.does, exact=True).dblclick()

    expect(page.get_by_role("alert")).to_have_count(1)
    expect(dialog).to_have_count(0)
    assert len(keys) == 2, "two clicks are one request, and a lost answer is one more"
    assert len(set(keys)) == 1
    assert len(_reasons(reading, why)) == 1


def test_an_overlord_that_is_killed_behind_the_commit_does_it_once(
    page: Page, watch: Watch, reading: Site
) -> None:
    """Goal: the page says that it does not know, and the same again does nothing twice."""
    cluster, why = reading.cluster, "once: killed"
    produce(reading.broker.bootstrap, reading.id, (record(n) for n in range(60, 64)))
    wait_until(reading.is_reading)
    published = len(cluster.publications(reading.id))
    dialog = _open(page, reading, _HANDOFF, why)
    watch.allow_status(503, "/")
    watch.allow_console(_REFUSED)

    def kill(route: Route) -> None:
        if "overlord" in cluster.children:
            assert route.fetch().ok
            cluster.kill("overlord")
        route.abort("connectionreset")

    address = re.compile(r"/handoff\?(?!.*dryRun)")
    page.route(address, kill)
    dialog.get_by_role("button", name="Hand off", exact=True).dblclick()
    expect(dialog.get_by_text("It is not known whether it was done")).to_be_visible()
    expect(dialog.get_by_label("Reason")).not_to_be_editable()
    page.unroute(address)
    cluster.start_overlord()
    expect(page.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()

    dialog.get_by_role("button", name="Try again").click()

    expect(page.get_by_text(f"{reading.id} hands off.", exact=True)).to_be_visible()
    expect(dialog).to_have_count(0)
    assert len(_reasons(reading, why)) == 1
    wait_until(lambda: len(cluster.publications(reading.id)) == published + 1)
