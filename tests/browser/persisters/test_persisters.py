"""Stored reports on Home and Work, of an overlord that knows a persister which was stopped."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.integration.overlords import Overlord, Overlords
from tests.supervisor.cli.cluster.test_reports import STATUS
from tests.supervisor.cli.overlord import Reply
from tests.supervisor.cli.overlord import overlord as a_server

_STOPPED = STATUS | {"state": "STOPPED", "reason": "the schema <b>reports</b> is missing"}


@pytest.fixture(scope="module")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord with a persister that stores nothing; it is asked once the overlord leads."""
    folder = tmp_path_factory.mktemp("persisters")
    with a_server() as persister:
        persister.on("GET", "/status", Reply(_STOPPED))
        with Overlords(folder, f"sqlite:///{folder / 'metadata.db'}") as overlords:
            yield overlords.start_leader(TIDEGATE_REPORTS_PERSISTER=persister.url)


def test_a_stopped_persister_is_on_home_with_the_command_that_lets_it_go_on(page: Page) -> None:
    page.goto("/ui/")

    # An overlord that does not lead yet shows another page, and what is open there closes with it.
    cluster = page.get_by_role("region", name="Cluster")
    expect(cluster).to_contain_text("term 1")
    item = page.get_by_role("listitem").filter(has_text="stores nothing")
    expect(item).to_contain_text("the schema <b>reports</b> is missing")
    item.get_by_role("button", name="Let it go on").click()
    expect(page.get_by_text("tidegate reports resume --persister")).to_be_visible()
    expect(cluster).to_contain_text("40 records behind")
    expect(cluster).to_contain_text("1 of 1 persister not running")
    expect(cluster).to_contain_text("2 dead letters")
    assert_accessible(page)


def test_work_shows_each_persister_with_what_to_do(page: Page) -> None:
    page.goto("/ui/work")

    reports = page.get_by_role("region", name="Stored reports and logs")
    expect(reports).to_contain_text("stopped for")
    expect(reports).to_contain_text("12 records stored since its start")
    expect(reports).to_contain_text("the schema <b>reports</b> is missing")
    expect(reports).to_contain_text("tidegate reports resume --persister")
    expect(reports).to_contain_text("tidegate reports dead list")
    expect(reports.get_by_role("link", name="2 records could not be stored")).to_be_visible()
    assert_accessible(page)
