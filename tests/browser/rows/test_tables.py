"""The pages of tables: their figures are those of the API, of the topic and of the rows in it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.integration.oracle import ends_of

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_DAYS = 2
"""The oracle's records lie on two days, half of them on each."""
_PLACES = {
    "": "Mean file",
    "/visits/summary": "Fed by",
    "/visits/coverage": "What became of its offsets",
    "/visits/coverage?by=runs": "Before offset",
    "/visits/time": "Rows by day",
    "/visits/time?show=files": "Files by day",
    "/visits/files": "Published by",
    "/visits/files?from=2026-01-01&to=2026-01-02": "Take this time out",
    "/visits/exports": "Not exported",
    "/visits/rules": "Newest compactions",
    "/visits/code": "import duckdb",
    "/no-such-table/files": "or you may not read it",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anybody_can_read_and_use_them(page: Page, published: Published, scheme: str) -> None:
    assert published.id == "visits"
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for place, text in _PLACES.items():
        page.goto(f"/ui/tables{place}")
        expect(page.get_by_text(text).first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280, f"{place} is {width} px wide"


def test_the_list_has_what_the_api_counts_and_leads_to_the_table(
    page: Page, published: Published
) -> None:
    stats = _stats(published)
    page.goto("/ui/tables?sort=-rows")
    table = page.get_by_role("table", name="Tables")
    row = table.locator("tbody tr", has=page.get_by_role("link", name=published.id, exact=True))
    expect(row).to_have_count(1)

    cells = row.locator("td").all_inner_texts()

    assert cells[1] == str(published.sent) == str(stats["rows"])
    assert cells[3] == str(stats["files"])
    assert cells[4] == str(stats["smallFiles"])
    page.get_by_role("textbox", name="Table or supervisor").fill(f"{published.id}__errors")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(f"q={published.id}__errors"))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear").click()
    row.get_by_role("link", name=published.id).click()
    expect(page).to_have_url(re.compile(f"/ui/tables/{published.id}/summary"))
    expect(page.get_by_role("heading", level=1)).to_have_text(published.id)
    coverage = page.get_by_role("region", name="Coverage")
    expect(coverage).to_contain_text("complete")


def test_each_offset_of_the_topic_is_accounted_for(page: Page, published: Published) -> None:
    ends = ends_of(published.bootstrap, published.id)
    whole = sum(ends.values())
    page.goto(f"/ui/tables/{published.id}/coverage")
    rows = page.get_by_role("table", name="Coverage by partition").locator("tbody tr")
    expect(rows).to_have_count(len(ends))

    for row, (number, end) in zip(rows.all(), sorted(ends.items()), strict=True):
        expect(row).to_contain_text(f"{published.id}:{number}")
        expect(row.get_by_role("img")).to_have_accessible_name(f"0 to {end} published")
        expect(row).to_contain_text(f"first 0 + {end} committed = next {end}")
        expect(row).to_contain_text("0 unexplained")

    expect(page.get_by_role("main")).to_contain_text(
        f"{whole} committed = {whole} published ({published.bad} rejected inside)"
    )
    page.get_by_text("Runs of offsets", exact=True).click()
    runs = page.get_by_role("table", name="Runs of offsets").locator("tbody tr")
    expect(runs).to_have_count(len(ends))
    expect(page.get_by_text(f"tidegate verify {published.id}")).to_be_visible()
    page.get_by_role("button", name="Only what is not simply published").click()
    expect(page.get_by_text("Each committed offset is published, once.")).to_be_visible()


def test_buckets_of_time_have_all_rows_and_lead_to_their_files(
    page: Page, published: Published
) -> None:
    page.goto(f"/ui/tables/{published.id}/time")
    buckets = page.get_by_role("table", name="Buckets of time").locator("tbody tr")
    expect(buckets).to_have_count(_DAYS)
    counted = [int(row.locator("td").nth(1).inner_text()) for row in buckets.all()]
    assert sum(counted) == published.sent
    chart = page.get_by_role("slider", name=re.compile("Bars by time"))
    expect(chart).to_have_attribute("aria-valuetext", re.compile(f"2 Jan 2026.* {counted[0]} rows"))

    chart.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("1 Jan 2026"))
    chart.press("Enter")

    expect(page).to_have_url(re.compile("/files.*from=2026-01-01T00"))
    files = _rows(page.get_by_role("table", name="Files"))
    first_day = _segments(published, datetime(2026, 1, 1, tzinfo=UTC))
    expect(files).to_have_count(len(first_day))
    assert sum(int(row.locator("td").nth(3).inner_text()) for row in files.all()) == counted[1]


def test_files_are_filtered_and_taking_them_out_is_shown_before_it_is_done(
    page: Page, published: Published
) -> None:
    page.goto(f"/ui/tables/{published.id}/files")
    files = _rows(page.get_by_role("table", name="Files"))
    expect(files).to_have_count(_count(_stats(published)["files"]))
    page.get_by_role("checkbox", name="Select all rows that are shown").check()

    page.get_by_role("button", name=re.compile("^Take out")).click()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{published.sent} rows")
    expect(dialog.get_by_text(f"tidegate segment mark-unused {published.id} --id")).to_be_visible()
    expect(dialog.get_by_role("button", name="Take out")).to_be_disabled()
    assert_accessible(page)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    by = page.get_by_role("textbox", name="Published by")
    by.fill("somebody-else")
    by.press("Enter")
    expect(page.get_by_text("No file fits")).to_be_visible()
    expect(page).to_have_url(re.compile("supervisor=somebody-else"))
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("Taken out", exact=True).click()
    expect(page.get_by_text("No file was taken out")).to_be_visible()
    assert _count(_stats(published)["rows"]) == published.sent


def test_a_rule_says_what_it_would_take_before_it_is_set(page: Page, published: Published) -> None:
    page.goto(f"/ui/tables/{published.id}/rules")
    retention = page.get_by_role("region", name="Retention")
    expect(retention).to_contain_text("kept for ever")
    retention.get_by_role("button", name="Set a rule…").click()
    dialog = page.get_by_role("dialog")

    dialog.get_by_role("textbox", name="Keep rows for").fill("P1D")

    expect(dialog).to_contain_text(f"with {published.sent} rows, older than P1D")
    expect(dialog.get_by_role("definition").filter(has_text=" files · ")).to_contain_text(
        f"{published.sent} rows"
    )
    expect(dialog.get_by_label(f"Type {published.sent} to confirm: so many rows")).to_be_visible()
    expect(dialog.get_by_role("button", name="Set the rule")).to_be_disabled()
    assert_accessible(page)
    dialog.get_by_role("textbox", name="Keep rows for").fill("P1Y")
    expect(dialog).to_contain_text("No such length")
    expect(dialog.get_by_role("button", name="Set the rule")).to_have_count(0)


def test_code_is_copied_as_the_api_writes_it(page: Page, published: Published) -> None:
    path = f"/api/v1/datasources/{published.id}/snippets"
    snippets = published.cluster.http.get(path).raise_for_status().json()["snippets"]
    polars = next(each["code"] for each in snippets if each["reader"] == "polars")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/ui/tables/{published.id}/code")

    page.get_by_role("button", name="Polars").click()
    page.get_by_role("button", name="Copy the code").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == polars


def _rows(table: Locator) -> Locator:
    return table.locator("tbody tr")


def _stats(published: Published) -> dict[str, JsonValue]:
    """Return the totals of the published table."""
    answer = published.cluster.http.get("/api/v1/datasources", params={"stats": "true"})
    every = answer.raise_for_status().json()["stats"]
    totals: dict[str, JsonValue] = next(each for each in every if each["name"] == published.id)
    return totals


def _segments(published: Published, day: datetime) -> list[dict[str, JsonValue]]:
    """Return the files in use of one day."""
    window = {"from": day.isoformat(), "to": (day + timedelta(days=1)).isoformat()}
    path = f"/api/v1/datasources/{published.id}/segments"
    answer = published.cluster.http.get(path, params={"used": "true", "limit": "100", **window})
    found: list[dict[str, JsonValue]] = answer.raise_for_status().json()["segments"]
    return found


def _count(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value
