"""The leader is killed before the commit of a change that the console has asked for."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.contact.conftest import Site
from tests.browser.contact.verbs import (
    RESUME,
    SUSPEND,
    TERMINATE,
    Sent,
    Verb,
    open_dialog,
    reasons,
)
from tests.browser.watch import Watch
from tests.integration.cluster import SUPERVISORS

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_LOST = "Failed to load resource: net::ERR_"


@pytest.mark.parametrize("verb", [SUSPEND, RESUME, TERMINATE], ids=lambda verb: verb.path)
def test_an_overlord_that_is_killed_before_the_commit_has_done_nothing(
    page: Page, watch: Watch, doomed: Site, verb: Verb
) -> None:
    """Goal: the page says that it does not know, nothing was done, and a repeat does it once."""
    cluster, why = doomed.cluster, f"killed: {verb.path}"
    if verb is RESUME:
        cluster.post(doomed.id, "suspend")
    before = doomed.versions()
    _restart_overlord(doomed, f"{verb.path}:in-transaction:kill")
    watch.allow_console(_LOST)
    watch.allow_status(404, f"{SUPERVISORS}/{doomed.id}")
    watch.allow_status(404, f"/api/v1/supervisors/{doomed.id}")
    watch.allow_status(503, "/")
    sent = Sent(page, verb)
    dialog = open_dialog(page, doomed, verb, why)
    overlord = cluster.children["overlord"]

    dialog.get_by_role("button", name=verb.does, exact=True).dblclick()

    expect(dialog.get_by_text("It is not known whether it was done")).to_be_visible()
    assert not overlord.alive(), "the failpoint was not reached"
    cluster.kill("overlord")
    cluster.start_overlord()
    assert doomed.versions() == before, "what was not committed is as it was"
    assert reasons(doomed, why) == []
    expect(page.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()

    dialog.get_by_role("button", name="Try again").dblclick()

    expect(page.get_by_role("alert")).to_have_count(1)
    expect(dialog).to_have_count(0)
    assert len(set(sent.keys)) == 1
    assert reasons(doomed, why) == [verb.path]
    assert doomed.versions() == before + 1


def _restart_overlord(site: Site, failpoints: str) -> None:
    """Have the overlord end at a place; the one after it has no such place."""
    cluster = site.cluster
    cluster.stop("overlord")
    usual = cluster.more
    cluster.more = {**usual, "TIDEGATE_FAILPOINTS": failpoints}
    cluster.start_overlord()
    cluster.more = usual
