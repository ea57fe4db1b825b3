"""The records that could not be read, as they were sent."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.rows.conftest import Published
from tests.environment.brokers import create_topic, read_all
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]


def test_each_is_listed_with_its_place_and_opened_whole(page: Page, published: Published) -> None:
    path = f"/api/v1/supervisors/{published.id}/quarantine"
    kept = published.cluster.http.get(path).raise_for_status().json()
    assert sum(kept["reasons"].values()) == published.bad
    page.goto(f"/ui/supervisors/{published.id}/bad-records")
    rows = page.get_by_role("table", name="Bad records").locator("tbody tr")
    expect(rows).to_have_count(published.bad)
    for row, record in zip(rows.all(), kept["records"], strict=True):
        for text in (f"{record['topic']}:{record['partition']}", record["reason"], record["value"]):
            expect(row).to_contain_text(text)
        expect(row.get_by_role("link", name=str(record["offset"]), exact=True)).to_be_visible()
    for reason, number in kept["reasons"].items():
        expect(page.get_by_role("button", name=f"{reason} {number}")).to_be_visible()
    assert_accessible(page)

    page.get_by_role("button", name=re.compile("^not-json")).click()

    expect(rows).to_have_count(2)
    expect(page.get_by_role("button", name="bad-timestamp 2")).to_be_visible()
    rows.first.get_by_role("link").click()
    panel = page.get_by_role("complementary")
    expect(panel.locator("pre")).to_have_text("broken json")
    page.emulate_media(color_scheme="dark")
    panel.get_by_text("hex", exact=True).click()
    expect(panel.locator("pre")).to_contain_text("62 72 6f 6b 65 6e 20 6a 73 6f 6e")
    expect(page).to_have_url(re.compile("reason=not-json&record=visits%3A\\d%3A\\d+&as=hex"))
    page.reload()
    panel.get_by_role("button", name="Try with today's spec").click()
    outcome = panel.get_by_role("region", name="With today's spec")
    expect(outcome.get_by_text("no row")).to_be_visible()
    expect(outcome).to_contain_text("not-json")
    assert_accessible(page)


def test_samples_are_the_newest_of_all_ranges(page: Page, published: Published) -> None:
    page.goto(f"/ui/supervisors/{published.id}/bad-records?view=samples")

    rows = page.get_by_role("table", name="Samples of bad records").locator("tbody tr")

    expect(rows).to_have_count(published.bad)
    expect(rows.filter(has_text="broken json")).to_have_count(2)
    assert_accessible(page)


def test_those_of_one_reason_are_replayed_by_a_dialog(page: Page, published: Published) -> None:
    """Goal: what the dialog says is sent, is what the topic has, and the page says so."""
    again, http = f"{published.id}-again", published.cluster.http
    create_topic(published.bootstrap, again, partitions=1)
    page.goto(f"/ui/supervisors/{published.id}/bad-records?reason=not-json")
    page.get_by_text("As a table").click()
    counts = page.get_by_role("table", name="Counts of bad records").locator("tbody tr")
    expect(counts.first).to_contain_text("not-json")

    page.get_by_role("button", name="Replay…").click()

    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("To the topic")).to_have_value(again)
    expect(dialog.get_by_text(f"2 records are sent to {again} as they were")).to_be_visible()
    expect(dialog.get_by_text("cannot be undone")).to_be_visible()
    command = f"tidegate quarantine send {published.id} --topic {again} --of not-json"
    expect(dialog.get_by_text(command)).to_be_visible()
    assert_accessible(page)
    dialog.get_by_role("button", name="Replay", exact=True).click()
    expect(dialog).to_be_hidden()
    newest = f"/api/v1/operations?supervisor={published.id}&limit=1"
    wait_until(lambda: http.get(newest).json()["operations"][0]["state"] == "done")
    assert read_all(published.bootstrap, again) == {0: [b"broken json"] * 2}
    page.goto(f"/ui/supervisors/{published.id}")
    expect(page.get_by_text(f"2 sent to {again}")).to_be_visible()
