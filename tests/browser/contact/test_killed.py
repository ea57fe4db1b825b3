"""The leader is killed before the commit of a change that the console has asked for, or behind it.

What a preview has shown is what the repeat does.

Slow: the overlord of six verbs is killed and started once for each.
"""

from collections.abc import Sequence

import pytest
from playwright.sync_api import Locator, Page, expect

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
from tests.integration.cluster import SUPERVISORS
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_LOST = "Failed to load resource: net::ERR_"
_STEP_MS = 500


def test_a_version_that_is_not_committed_is_not_there(
    page: Page, watch: Watch, doomed: Site
) -> None:
    """Goal: the page says that it does not know, nothing was done, and a repeat does it once."""
    watch.allow_status(404, f"{SUPERVISORS}/{doomed.id}")
    watch.allow_status(404, f"/api/v1/supervisors/{doomed.id}")
    _kill_at_each(page, watch, doomed, [SUSPEND, RESUME, TERMINATE])


@pytest.mark.long
def test_a_change_that_is_not_committed_is_not_there(
    page: Page, watch: Watch, reading: Site
) -> None:
    """Goal: as of a version; what has no version is a row of a range, a task, a file, a worker."""
    published = len(reading.cluster.publications(reading.id))
    make_ready(reading, HANDOFF)
    _kill_at_each(page, watch, reading, [END, UNUSED, USED, OUT, BACK, HANDOFF])
    wait_until(lambda: len(reading.cluster.publications(reading.id)) == published + 1)


def test_a_change_whose_leader_is_killed_behind_the_commit_is_not_done_again(
    page: Page, watch: Watch, reading: Site
) -> None:
    """Goal: the answer is lost for good; the repeat hears so, and the page says that it is done."""
    why, before = "killed: behind", rows_of(reading, OUT)
    reading.cluster.stop("overlord")
    _start_overlord(reading, f"{OUT.action}:committed:kill")
    page.clock.install()
    sent, dialog = _send(page, watch, reading, OUT, why)
    watch.expect_status(409, "/druid/indexer/v1/worker/w1/disable")
    _start_overlord(reading)
    assert reasons(reading, why) == [OUT.action]

    _try_again(page, dialog)

    expect(page.get_by_role("alert")).to_contain_text(f"{OUT.done} Its answer got lost")
    expect(dialog).to_have_count(0)
    assert len(set(sent.keys)) == 1
    assert reasons(reading, why) == [OUT.action]
    assert rows_of(reading, OUT) ^ before == {"w1"}


def _kill_at_each(page: Page, watch: Watch, site: Site, verbs: Sequence[Verb]) -> None:
    """Do one after the other: the overlord dies in its transaction, and the page asks again.

    Whoever follows a dead overlord has the places of the verbs that are left.
    """
    places = [f"{verb.action}:in-transaction:kill" for verb in verbs]
    site.cluster.stop("overlord")
    _start_overlord(site, *places)
    page.clock.install()
    for number, verb in enumerate(verbs, start=1):
        why, before = f"killed: {verb.path}", rows_of(site, verb)
        if verb is TERMINATE:  # a preview of tasks that only start is soon outdated
            wait_until(site.is_reading)
        sent, dialog = _send(page, watch, site, verb, why)
        _start_overlord(site, *places[number:])
        assert rows_of(site, verb) == before, "what was not committed is as it was"
        assert reasons(site, why) == []

        _try_again(page, dialog)

        expect(page.get_by_role("alert")).to_contain_text(verb.done)
        expect(dialog).to_have_count(0)
        assert len(set(sent.keys)) == 1
        assert reasons(site, why) == [verb.action]
        assert len(rows_of(site, verb) ^ before) == sent.shown() > 0


def _send(page: Page, watch: Watch, site: Site, verb: Verb, why: str) -> tuple[Sent, Locator]:
    """Click, and wait until the overlord is dead and the page no longer asks again by itself."""
    watch.allow_console(_LOST)
    watch.allow_status(503, "/")
    watch.allow_status(404, "/druid/indexer/v1/task/")  # a worker without a JVM has no report
    sent = Sent(page, verb)
    dialog = open_dialog(page, site, verb, why)
    overlord = site.cluster.children["overlord"]

    dialog.get_by_role("button", name=verb.does, exact=True).dblclick()

    unknown = dialog.get_by_text("It is not known whether it was done")

    def has_given_up() -> bool:
        page.clock.fast_forward(_STEP_MS)
        return unknown.is_visible()

    wait_until(has_given_up)
    assert not overlord.alive(), "the failpoint was not reached"
    site.cluster.kill("overlord")
    return sent, dialog


def _try_again(page: Page, dialog: Locator) -> None:
    expect(page.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()
    dialog.get_by_role("button", name="Try again").dblclick()


def _start_overlord(site: Site, *failpoints: str) -> None:
    """Start one that ends at these places, and wait until it knows how far the tasks have read."""
    cluster = site.cluster
    usual = cluster.more
    cluster.more = {**usual, "TIDEGATE_FAILPOINTS": ";".join(failpoints)}
    cluster.start_overlord()
    cluster.more = usual
    wait_until(lambda: site.is_suspended() or site.is_reading())
