"""What a supervisor's passes decided and why, and all that happened to it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.integration.cluster import SUPERVISORS
from tests.integration.oracle import spec

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]


def test_each_decision_has_its_reason(page: Page, published: Published) -> None:
    path = f"/api/v1/supervisors/{published.id}/plans"
    plans = published.cluster.http.get(path).raise_for_status().json()["plans"]
    actions = [action for plan in plans for action in plan["actions"]]
    ends = [action for action in actions if action["action"] == "FixEnd"]
    page.goto(f"/ui/supervisors/{published.id}/why")
    rows = page.get_by_role("table", name="Decisions").locator("tbody tr")
    expect(rows).to_have_count(len(actions))
    expect(page.get_by_text("Nothing: it goes on by itself.")).to_be_visible()
    for row, action in zip(rows.all(), actions, strict=True):
        expect(row).to_contain_text(action["about"])
        expect(row).to_contain_text(action["why"])
    assert_accessible(page)

    page.get_by_role("button", name="set the end of range").click()

    expect(rows).to_have_count(len(ends))
    page.reload()
    expect(rows).to_have_count(len(ends))
    page.get_by_role("textbox", name="About").fill(ends[-1]["about"])
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("action=FixEnd&about="))
    rows.get_by_role("link", name=ends[-1]["about"]).click()
    expect(page.get_by_role("heading", name=f"Range {ends[-1]['about']}")).to_be_visible()


def test_events_are_filtered_and_opened_by_the_address(page: Page, published: Published) -> None:
    page.emulate_media(color_scheme="dark")
    events = published.cluster.http.get(
        "/api/v1/events", params={"supervisor": published.id}
    ).raise_for_status()
    page.goto(f"/ui/supervisors/{published.id}/events")
    table = page.get_by_role("table", name="Events")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(len(events.json()["events"]))
    cell = rows.first.get_by_role("cell").first
    assert _right_of(cell.locator("time")) <= _right_of(cell), "the second is cut off"
    page.get_by_role("button", name="All types").click()
    types = page.get_by_role("dialog")
    assert_accessible(page)
    types.get_by_label("generation-published").check()
    types.get_by_label("generation-opened").check()
    page.keyboard.press("Escape")

    expect(rows).to_have_count(5)  # two were published, and one reads

    expect(page).to_have_url(re.compile("type=generation-published&type=generation-opened"))
    page.reload()
    expect(rows).to_have_count(5)
    rows.filter(has_text="generation-published").last.click()
    panel = page.get_by_role("complementary")
    expect(panel.locator("pre")).to_contain_text('"rows": 300')
    assert_accessible(page)
    page.goto(f"/ui/supervisors/{published.id}/events?until=2026-01-01T00:00:00Z")
    expect(page.get_by_text("No event that is kept fits the filter.")).to_be_visible()


def _right_of(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["x"] + box["width"]


@pytest.fixture
def resting(published: Published) -> Iterator[dict[str, JsonValue]]:
    """The spec of a supervisor that is suspended from its beginning."""
    document = spec(published.bootstrap, "resting", task_count=1)
    document["suspended"] = True
    published.cluster.apply(document)
    yield document
    published.cluster.http.post(f"{SUPERVISORS}/resting/terminate").raise_for_status()


def test_what_happens_next_comes_by_itself(
    page: Page, published: Published, resting: dict[str, JsonValue]
) -> None:
    for tab, words in {
        "timeline": "No range was open in the last hour.",
        "bad-records": "No bad records: what cannot be read is kept here as it was sent",
    }.items():
        page.goto(f"/ui/supervisors/resting/{tab}")
        expect(page.get_by_text(words)).to_be_visible()
        assert_accessible(page)
    page.get_by_role("link", name="Events").click()
    rows = page.get_by_role("table", name="Events").locator("tbody tr")
    expect(rows.filter(has_text="supervisor-created")).to_have_count(1)
    expect(rows.filter(has_text="spec-stored")).to_have_count(0)
    inner = resting["spec"]
    assert isinstance(inner, dict)
    io = inner["ioConfig"]
    assert isinstance(io, dict)
    io["taskCount"] = 2

    published.cluster.apply(resting)

    expect(rows.filter(has_text="spec-stored")).to_have_count(1)
