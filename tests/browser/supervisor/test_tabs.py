"""The tabs of a supervisor: what they show, for everybody, in light and dark."""

import json
import re
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import PARTITIONS, RECORDS, Reader

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_PLACES = {
    "overview": "Recent errors",
    "overview?window=1h": "Recent errors",
    "partitions": "Headroom",
    "overview?do=reset&to=earliest": "Gives up",
    "overview?do=reset&to=offsets&offset=0%3D5": "Gives up",
    "overview?do=reset&to=json": "Paste",
    "overview?do=suspend": "Command line",
    "overview?do=terminate": "Command line",
    "overview?do=handoff": "Command line",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anybody_can_read_and_use_them(page: Page, reader: Reader, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for place, text in _PLACES.items():
        page.goto(f"/ui/supervisors/{reader.id}/{place}")
        expect(page.get_by_text(text).first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280, f"{place} is {width} px wide"


def test_its_address_alone_leads_to_the_overview(page: Page, reader: Reader) -> None:
    page.goto(f"/ui/supervisors/{reader.id}")

    expect(page).to_have_url(re.compile(f"/ui/supervisors/{reader.id}/overview"))
    expect(page.get_by_role("heading", name=reader.id)).to_be_visible()


def test_the_partitions_are_those_of_the_leader_s_last_look(page: Page, reader: Reader) -> None:
    page.goto(f"/ui/supervisors/{reader.id}/partitions")
    table = page.get_by_role("table", name="Partitions")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(PARTITIONS)
    expect(rows.first.get_by_role("img")).to_have_accessible_name(
        re.compile(rf"earliest 0, committed 0, .*latest {RECORDS}")
    )

    page.get_by_role("button", name="Only at risk").click()

    expect(rows).to_have_count(0)
    expect(page).to_have_url(re.compile("only=at-risk"))
    page.reload()
    expect(page.get_by_text("No partition is at risk")).to_be_visible()


def test_its_incident_bundle_is_saved_by_one_click(page: Page, reader: Reader) -> None:
    page.goto(reader.page)
    page.get_by_role("button", name="More").click()

    with page.expect_download() as downloading:
        page.get_by_role("menuitem", name="Incident bundle").click()

    assert downloading.value.suggested_filename == f"{reader.id}-bundle.zip"
    with zipfile.ZipFile(downloading.value.path()) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert {"explanation.json", "partitions.json"} <= set(archive.namelist())
    assert manifest["supervisorId"] == reader.id
    expect(page.get_by_text("bundle.zip is saved")).to_be_visible()
    assert_accessible(page)


def test_suspending_it_from_its_page_can_be_seen_there(page: Page, reader: Reader) -> None:
    page.goto(reader.page)
    page.get_by_role("button", name="Suspend…").click()
    dialog = page.get_by_role("dialog", name="suspend")
    expect(dialog.get_by_text("tidegate supervisor suspend")).to_be_visible()

    dialog.get_by_role("button", name="Suspend", exact=True).click()

    expect(page.get_by_role("button", name="Resume…").first).to_be_visible()
    assert reader.status()["suspended"] is True


def test_the_lag_is_drawn_in_a_browser_of_a_machine_without_a_locale(
    page: Page, reader: Reader
) -> None:
    """Goal: such a browser names a language that JavaScript refuses; the chart is there all the
    same, as its numbers are written as elsewhere on the page."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    samples = [
        {"at": (now - timedelta(minutes=ago)).isoformat(), "records": 8_662, "millis": 46_000}
        for ago in (2, 1)
    ]

    def answer(route: Route) -> None:
        route.fulfill(json={"supervisorId": reader.id, "samples": samples})

    page.route(re.compile(f"/supervisors/{reader.id}/lag"), answer)
    page.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })"
    )

    page.goto(reader.page)

    expect(page.locator(".uplot canvas")).to_be_visible()
    expect(page.get_by_text("This part of the page failed")).to_have_count(0)
