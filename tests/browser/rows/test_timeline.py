"""The timeline of a supervisor: lanes, steps to the millisecond, a table, and what runs now."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.environment.brokers import create_topic, produce
from tests.integration.cluster import SUPERVISORS
from tests.integration.oracle import record, spec

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_HOSTILE = '<img src=x onerror=alert(1)>"\u202e</script><script>alert(2)</script>'
_STEPS = {
    "reading": "openedAt",
    "pausing": "pausingAt",
    "finishing": "endFixedAt",
    "publishing": "firstFinishedAt",
}


def test_each_step_has_the_times_of_the_api(page: Page, published: Published) -> None:
    newest, *_, first = _ranges(published, published.id)
    page.goto(f"/ui/supervisors/{published.id}/timeline")
    lane = page.get_by_role("button", name="Group 0")
    expect(lane).to_contain_text("reading for")

    lane.click(position={"x": 20, "y": 10})

    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("heading", name=f"Range {newest['id']}")).to_be_visible()
    assert_accessible(page)
    lane.focus()
    page.keyboard.press("Home")
    expect(panel.get_by_role("heading", name=f"Range {first['id']}")).to_be_visible()
    _expect_steps(panel, first)
    expect(panel.get_by_text("304 offsets became 300 rows and 4 rejected records")).to_be_visible()
    expect(panel.get_by_text(f"It was handed off: {first['handoffWhy']}.")).to_be_visible()
    for partition, end in _object(first["end"]).items():
        row = panel.get_by_role("row", name=partition)
        expect(row.get_by_role("cell").nth(2)).to_have_text(str(end))
    for attempt in _list(first["attempts"]):
        expect(panel.get_by_role("link", name=str(attempt["taskId"]))).to_be_visible()
    expect(panel.get_by_text("set the end of range")).to_be_visible()
    assert_accessible(page)


def test_the_table_and_the_filters_are_in_the_address(page: Page, published: Published) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(f"/ui/supervisors/{published.id}/timeline?window=6h")
    page.get_by_role("button", name="Show as a table").click()
    rows = page.get_by_role("table", name="Ranges").locator("tbody tr")
    ranges = _ranges(published, published.id)
    expect(rows).to_have_count(len(ranges))
    rows.last.click()
    expect(page.get_by_role("complementary")).to_contain_text(f"Range {ranges[-1]['id']}")
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)

    page.get_by_role("button", name="Only failed").click()

    expect(page.get_by_text("No range failed in the last 6 hours.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?window=6h&as=table&only=failed$"))
    page.goto(f"/ui/supervisors/{published.id}/timeline?group=7")
    expect(page.get_by_text("No range of group 7 was open")).to_be_visible()


@pytest.fixture
def hostile(published: Published) -> Iterator[str]:
    """A supervisor that hands off every two seconds; its topic has a record of markup."""
    name = "hostile"
    create_topic(published.bootstrap, name, partitions=1)
    produce(published.bootstrap, name, (*(record(n) for n in range(20)), _HOSTILE))
    document = spec(published.bootstrap, name, task_count=1, task_duration="PT2S")
    published.cluster.apply(document)
    yield name
    published.cluster.http.post(f"{SUPERVISORS}/{name}/terminate").raise_for_status()


def test_a_handoff_is_seen_as_it_goes_and_what_it_found_is_text(
    page: Page, published: Published, hostile: str
) -> None:
    page.on("dialog", lambda _: pytest.fail("a record was run as a script"))
    page.goto(f"/ui/supervisors/{hostile}/timeline?as=table")
    rows = page.get_by_role("table", name="Ranges").locator("tbody tr")
    expect(rows.first).to_contain_text(re.compile("reading|pausing|finishing"))

    ended = rows.filter(has=page.get_by_text("published", exact=True))
    expect(ended.first).to_contain_text("taskDuration of 2 s is over")

    assert "PUBLISHED" in {each["state"] for each in _ranges(published, hostile)}
    page.get_by_role("link", name="Bad records").click()
    bad = page.get_by_role("table", name="Bad records").locator("tbody tr")
    expect(bad).to_have_count(1)
    expect(bad).to_contain_text(_HOSTILE.replace("\u202e", "⟨U+202E⟩"))
    bad.click()
    panel = page.get_by_role("complementary")
    expect(panel.locator("pre")).to_have_text(_HOSTILE.replace("\u202e", "⟨U+202E⟩"))
    assert page.locator("img").count() == 0


def _expect_steps(panel: Locator, shown: dict[str, JsonValue]) -> None:
    durations = _object(shown["durations"])
    table = panel.get_by_role("table", name="Steps")
    for step, member in _STEPS.items():
        row = table.get_by_role("row", name=step)
        expect(row.locator("time")).to_have_attribute("datetime", str(shown[member]))
        millis = durations[step]
        assert isinstance(millis, int)
        expect(row.get_by_role("cell").last).to_have_text(f"{millis:,} ms")


def _ranges(published: Published, supervisor_id: str) -> list[dict[str, JsonValue]]:
    """Return its ranges as the API has them, newest first."""
    path = f"/api/v1/supervisors/{supervisor_id}/generations"
    answer = published.cluster.http.get(path).raise_for_status()
    return _list(answer.json()["generations"])


def _list(value: JsonValue) -> list[dict[str, JsonValue]]:
    assert isinstance(value, list)
    return [_object(each) for each in value]


def _object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)
    return value
