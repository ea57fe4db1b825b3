"""Two leaders, a leader that is gone, and a database that is away, as a page of one overlord says.

Two overlords of their own over a PostgreSQL of their own, which is stopped.  The one whose pages
are opened takes a lease over later than the other one: a time without a leader is long enough to
be seen.

Slow: leases run out, and a database is stopped, in real time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.faults.conftest import Home
from tests.browser.watch import Watch
from tests.environment.postgres import Server, postgres
from tests.integration.overlords import Overlord, Overlords
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.pg, pytest.mark.long]

_LEASE = timedelta(seconds=12)
"""Of the overlord whose pages are opened."""


@dataclass(frozen=True)
class Pair:
    """The overlord whose pages are opened, which leads at first, and the other one."""

    shown: Overlord
    other: Overlord
    server: Server


@pytest.fixture(scope="module")
def pair(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two overlords and their database."""
    folder = tmp_path_factory.mktemp("two-leaders")
    with (
        postgres() as server,
        server.database() as url,
        Overlords(folder, url) as overlords,
    ):
        shown = overlords.start_leader(TIDEGATE_LEASE_TTL=f"PT{_LEASE.seconds}S")
        other = overlords.start(TIDEGATE_LEASE_TTL="PT5S")
        yield Pair(shown, other, server)


@pytest.fixture(scope="module")
def overlord(pair: Pair) -> Overlord:
    """The overlord whose pages are opened."""
    return pair.shown


def test_of_two_leaders_one_is_refused_and_home_names_it_and_a_gap_is_one_band(
    home: Home, pair: Pair, watch: Watch
) -> None:
    """Goal: the page of the leader that was replaced says so, and outlives the next one as well."""
    watch.allow_status(503, "/")  # of calls during a change of leaders
    shown, other, page = pair.shown, pair.other, home.page
    shown.freeze()  # it still believes that it leads when it goes on
    wait_until(other.leads)
    shown.go_on()
    row = home.shows(
        "leader-replaced",
        "",
        f"the overlord {shown.url} did not renew its lease in time, so {other.url} leads since",
        "if nobody stopped it, see its log",
        earlier=_LEASE,  # since its last sign
    )
    assert not shown.leads()
    row.get_by_role("button", name=f"Find out why {shown.url} was silent").click()
    expect(page.get_by_text(f"tidegate doctor --server {shown.url}", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text(f"This overlord follows {other.url}")).to_be_visible()

    other.child.kill()
    band = page.get_by_role("status").filter(has_text="No leader answers since")
    expect(band).to_be_visible()
    _expect_quiet_panels(page)
    assert_accessible(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("No overlord leads at the moment.")
    home.shows(
        "leader-replaced",
        "",
        f"the overlord {other.url} did not renew its lease in time, so {shown.url} leads since",
    )
    expect(band).to_have_count(0)
    expect(page.get_by_text("This overlord follows")).to_have_count(0)


def test_without_its_database_home_says_so_and_keeps_what_it_knew(
    home: Home, pair: Pair, watch: Watch
) -> None:
    watch.allow_status(503, "/")
    page = home.page
    expect(page.get_by_role("heading", name="Cluster")).to_be_visible()
    pair.server.stop()
    try:
        row = home.shows(
            "database-silent",
            "",
            "the metadata database does not answer:",
            "nothing is handed off, published or changed until it does",
        )
        row.get_by_role("button", name="Check that the database runs").click()
        expect(page.get_by_text("tidegate doctor", exact=True).last).to_be_visible()
        page.keyboard.press("Escape")
        band = page.get_by_role("status").filter(
            has_text="The overlord cannot reach its metadata database since"
        )
        expect(band).to_have_count(1)
        known = page.get_by_role("region", name="Last known")
        expect(known).to_contain_text("What follows is what was known last")
        expect(known.get_by_text("does not answer", exact=True)).to_be_visible()
        _expect_quiet_panels(page)
    finally:
        pair.server.start()
    expect(row).to_have_count(0)
    expect(band).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("database")


def _expect_quiet_panels(page: Page) -> None:
    """See no error of a single panel: the band says what is wrong once for all."""
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
