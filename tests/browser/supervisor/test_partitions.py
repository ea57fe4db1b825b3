"""The strip of partitions, and what opens beside their list."""

import re
from collections.abc import Mapping

import pytest
from playwright.sync_api import Locator, Page, Position, Route, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import PARTITIONS, RECORDS, Reader

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_STRIP = "Partitions by the age of their lag"
_MANY = 1_000
_ELEMENTS_MAX = 20
"""Of the strip, with however many partitions."""
_AGES_MS = (None, 5_000, 300_000, 1_800_000, 7_200_000)
"""Of the oldest unread record of five partitions; nothing is unread in the first one."""


def _list_instead(page: Page, reader: Reader, rows: list[Mapping[str, JsonValue]]) -> None:
    """Have the overlord's answer hold these partitions, each beside what it says of the first."""
    path = f"/api/v1/supervisors/{reader.id}/partitions"
    document = reader.overlord.http.get(path).raise_for_status().json()
    first = document["partitions"][0]
    document["partitions"] = [{**first, **row} for row in rows]
    document |= {"count": len(rows), "fitting": len(rows), "next": None}

    def answer(route: Route) -> None:
        route.fulfill(json=document)

    page.route(re.compile(f"{path}[?]"), answer)


def _row(n: int) -> dict[str, JsonValue]:
    age = _AGES_MS[n % len(_AGES_MS)]
    return {"partition": n, "lagRecords": 0 if age is None else 7, "lagMillis": age}


def _panel(page: Page, reader: Reader, partition: int) -> Locator:
    return page.get_by_role("complementary", name=f"Partition {reader.id}:{partition}", exact=True)


def test_a_partition_is_opened_from_the_strip_to_its_history_and_its_reset(
    page: Page, reader: Reader
) -> None:
    """Goal: with keys alone, from the strip to the offsets that were left out, and back."""
    reader.go_on_at(5)
    page.goto(f"/ui/supervisors/{reader.id}/partitions")
    strip = page.get_by_role("listbox", name=_STRIP)
    cell = strip.get_by_role("option")
    unread = RECORDS - 5
    expect(cell).to_have_accessible_name(re.compile(f"^{reader.id}:0 · {unread} unread"))
    strip.focus()
    page.keyboard.press("End")
    expect(cell).to_have_accessible_name(re.compile(f"^{reader.id}:{PARTITIONS - 1} "))

    page.keyboard.press("Enter")

    panel = _panel(page, reader, PARTITIONS - 1)
    runs = panel.get_by_role("table", name="What became of its offsets").locator("tbody tr")
    expect(runs.filter(has_text="skipped").locator("td")).to_have_text(
        ["0", "5", re.compile("skipped")]
    )
    expect(cell).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(rf"open={reader.id}(:|%3A){PARTITIONS - 1}"))
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page).not_to_have_url(re.compile("open="))

    page.keyboard.press("Enter")
    page.reload()
    panel.get_by_role("button", name="Set offset…").click()
    expect(page).to_have_url(re.compile(rf"do=reset.*offset={PARTITIONS - 1}%3D5"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Set offset…").focus()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_thousand_partitions_are_one_strip_that_anybody_can_use(
    page: Page, reader: Reader, scheme: str
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    _list_instead(page, reader, [_row(n) for n in range(_MANY)])
    page.goto(f"/ui/supervisors/{reader.id}/partitions")
    strip = page.get_by_role("listbox", name=_STRIP)
    ages = page.get_by_role("region", name="Age of lag")
    each = _MANY // len(_AGES_MS)
    for words in ("nothing unread", "under 1 min", "under 10 min", "under 1 h", "1 h and more"):
        expect(ages.get_by_text(f"{words} {each}", exact=True)).to_be_visible()
    expect(strip.get_by_role("option")).to_have_attribute("aria-setsize", str(_MANY))
    assert strip.locator("*").count() <= _ELEMENTS_MAX
    box = strip.bounding_box()
    assert box is not None, "it is seen"
    at = Position(x=box["width"] * 704.5 / _MANY, y=10.0)

    strip.hover(position=at)

    words = f"{reader.id}:704 · 7 unread, the oldest 2 h 00 m ago"
    expect(strip).to_have_attribute("title", words)
    expect(ages.get_by_text(words)).to_be_visible()

    strip.click(position=at)

    expect(_panel(page, reader, 704)).to_be_visible()
    expect(page.locator(f"tr[data-row='{reader.id}:704'] a")).to_be_in_viewport(ratio=1)
    page.keyboard.press("ArrowRight")
    expect(ages.get_by_text(f"{reader.id}:705 · nothing unread")).to_be_visible()
    assert_accessible(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 1280


def test_offsets_of_64_bits_have_each_digit_in_strip_list_and_panel(
    page: Page, reader: Reader
) -> None:
    """Goal: what no number of JavaScript holds is shown all the same, and what is not known too."""
    most, least = 2**63 - 1, -(2**63)
    odd = {"earliest": least, "stable": most, "latest": most, "committed": most - 1}
    unknown = dict.fromkeys((*odd, "group", "firstOffset", "lagRecords", "lagMillis"))
    rows: list[Mapping[str, JsonValue]] = [
        {"partition": 0, **odd, "firstOffset": least, "lagRecords": 2**64 - 1, "lagMillis": most},
        {
            "partition": 1,
            **unknown,
            "generationId": None,
            "tasks": [],
            "headroomRecords": None,
            "headroomMillis": None,
        },
    ]
    _list_instead(page, reader, rows)
    runs = [{"from": least, "to": most, "kind": "published", "generations": []}]
    covered = {"topic": reader.id, "partition": 0, "runs": runs, "more": False}
    page.route(
        re.compile(f"/supervisors/{reader.id}/coverage"),
        lambda route: route.fulfill(json={"partitions": [covered]}),
    )
    page.goto(f"/ui/supervisors/{reader.id}/partitions?open={reader.id}:0")

    cell = page.get_by_role("listbox", name=_STRIP).get_by_role("option")
    expect(cell).to_have_accessible_name(re.compile(f" · {2**64 - 1:,} unread, the oldest "))
    row = page.locator(f"tr[data-row='{reader.id}:0']")
    expect(row.get_by_role("img")).to_have_accessible_name(
        f"earliest {least:,}, committed {most - 1:,}, stable {most:,}, latest {most:,}"
    )
    panel = _panel(page, reader, 0)
    expect(panel.get_by_text(f"{most - 1:,}", exact=True)).to_be_visible()
    cells = panel.get_by_role("table", name="What became of its offsets").locator("tbody td")
    expect(cells).to_have_text([f"{least:,}", f"{most:,}", "published"])

    page.locator(f"tr[data-row='{reader.id}:1'] a").first.click()

    expect(_panel(page, reader, 1).get_by_text("none reads it now")).to_be_visible()
    expect(page.get_by_text("This part of the page failed")).to_have_count(0)
    assert_accessible(page)
