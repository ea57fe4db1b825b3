"""A change is done once, though it is clicked twice, and its answer or the overlord is lost."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.contact.conftest import Site
from tests.browser.contact.verbs import (
    BACK,
    END,
    HANDOFF,
    OUT,
    RESUME,
    SUSPEND,
    TERMINATE,
    UNUSED,
    USED,
    Sent,
    Verb,
    make_ready,
    open_dialog,
    reasons,
    rows_of,
)
from tests.browser.watch import Watch
from tests.environment.brokers import produce
from tests.integration.cluster import SUPERVISORS
from tests.integration.oracle import record
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_LOST = "net::ERR_CONNECTION_RESET"
_REFUSED = "Failed to load resource: net::ERR_"


@pytest.mark.parametrize(
    "verb", [SUSPEND, RESUME, HANDOFF, END, OUT, BACK, UNUSED, USED], ids=lambda verb: verb.path
)
def test_two_clicks_and_a_lost_answer_do_it_once(
    page: Page, watch: Watch, reading: Site, verb: Verb
) -> None:
    """Goal: the connection breaks behind the commit; the page asks again by itself, and says so."""
    make_ready(reading, verb)
    before = rows_of(reading, verb)
    sent = Sent(page, verb, lost=1)
    watch.expect_console(_LOST)
    watch.allow_status(404, "/druid/indexer/v1/task/")  # a worker without a JVM has no report
    why = f"once: {verb.path}"
    dialog = open_dialog(page, reading, verb, why)

    dialog.get_by_role("button", name=verb.does, exact=True).dblclick()

    expect(page.get_by_role("alert")).to_contain_text(verb.done)
    expect(dialog).to_have_count(0)
    assert len(sent.keys) == 2, "two clicks are one request, and a lost answer is one more"
    assert len(set(sent.keys)) == 1
    assert reasons(reading, why) == [verb.action]
    assert len(rows_of(reading, verb) ^ before) == sent.shown() > 0


def test_a_terminate_whose_answer_is_lost_is_done_once(
    page: Page, watch: Watch, doomed: Site
) -> None:
    """Goal: the page asks again by itself, says that it is done, and shows that it is over."""
    sent = Sent(page, TERMINATE, lost=1)
    watch.expect_console(_LOST)
    watch.allow_status(404, f"{SUPERVISORS}/{doomed.id}")
    watch.allow_status(404, f"/api/v1/supervisors/{doomed.id}")
    why = f"once: {doomed.id}"
    dialog = open_dialog(page, doomed, TERMINATE, why)

    dialog.get_by_role("button", name="Terminate", exact=True).dblclick()

    expect(page.get_by_text(f"{doomed.id} is terminated.", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(dialog).to_have_count(0)
    assert len(sent.keys) == 2
    assert len(set(sent.keys)) == 1
    assert reasons(doomed, why) == ["terminate"]
    assert doomed.versions() == 2
    events = page.get_by_role("main")
    expect(events.get_by_text("supervisor-terminated", exact=True)).to_have_count(1)
    expect(page.get_by_role("button", name="More")).to_have_count(0)


def test_an_overlord_that_is_killed_behind_the_commit_does_it_once(
    page: Page, watch: Watch, reading: Site
) -> None:
    """Goal: the page says that it does not know, and the same again does nothing twice."""
    cluster, why = reading.cluster, "once: killed"
    produce(reading.broker.bootstrap, reading.id, (record(n) for n in range(60, 64)))
    wait_until(reading.is_reading)
    published = len(cluster.publications(reading.id))
    dialog = open_dialog(page, reading, HANDOFF, why)
    watch.allow_status(503, "/")
    watch.allow_console(_REFUSED)

    def kill(route: Route) -> None:
        if "overlord" in cluster.children:
            assert route.fetch().ok
            cluster.kill("overlord")
        route.abort("connectionreset")

    page.route(HANDOFF.address, kill)
    dialog.get_by_role("button", name="Hand off", exact=True).dblclick()
    expect(dialog.get_by_text("It is not known whether it was done")).to_be_visible()
    expect(dialog.get_by_label("Reason")).not_to_be_editable()
    page.unroute(HANDOFF.address)
    cluster.start_overlord()
    expect(page.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()

    dialog.get_by_role("button", name="Try again").click()

    expect(page.get_by_text(f"{reading.id} hands off.", exact=True)).to_be_visible()
    expect(dialog).to_have_count(0)
    assert len(reasons(reading, why)) == 1
    wait_until(lambda: len(cluster.publications(reading.id)) == published + 1)
