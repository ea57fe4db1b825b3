"""Queues: the dead one first with its place and reason, and what can be done about its events."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.planted.conftest import HANDLED_BY_NOBODY, Planted
from tests.browser.watch import Watch

pytestmark = pytest.mark.process

_MOST = 9_223_372_036_854_775_807
_WHY = "its checksum does not fit"


def test_a_dead_queue_is_first_and_is_repaired_from_its_page(page: Page, planted: Planted) -> None:
    planted.queue("supervisor:calm")
    dead = planted.queue("supervisor:broken", events=2)
    planted.kill(dead, _WHY)
    planted.set_aside(dead, 7, b'{"n": %d}' % _MOST, "no such bucket")
    planted.set_aside(dead, 8, b"\xff\xfe", "cannot be decoded")

    page.goto("/ui/")
    expect(page.get_by_text("Needs somebody")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("q")
    rows = page.get_by_role("table", name="Queues").locator("tbody tr")
    expect(rows.first).to_contain_text("dead at 1: its checksum does not fit")
    expect(page.get_by_text(re.compile("1 dead .* set aside"))).to_be_visible()
    page.get_by_role("button", name="Unhealthy").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url("/ui/queues?only=unhealthy")
    assert_accessible(page)

    rows.get_by_role("link", name="supervisor:broken").click()
    expect(page.get_by_role("alert")).to_contain_text(f"dead at event 1: {_WHY}")
    page.get_by_role("button", name="event 7").click()
    expect(page.get_by_label("Payload")).to_contain_text(str(_MOST))
    expect(page).to_have_url(re.compile(rf"broken/{HANDLED_BY_NOBODY}\?event=7"))
    assert_accessible(page)
    page.keyboard.press("Escape")

    page.get_by_role("row", name="event 8").get_by_role("button", name="Drop…").click()
    dialog = page.get_by_role("dialog")
    command = f"tidegate queue drop supervisor:broken {HANDLED_BY_NOBODY} 8"
    expect(dialog.get_by_text(command)).to_be_visible()
    dialog.get_by_label(re.compile("^Type 8")).fill("8")
    dialog.get_by_role("button", name="Drop", exact=True).click()
    expect(page.get_by_role("button", name="event 8")).to_have_count(0)

    page.get_by_role("button", name="Repair…").click()
    dialog.get_by_role("button", name="Repair", exact=True).click()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Replay all…").click()
    dialog.get_by_role("button", name="Replay all", exact=True).click()
    expect(page.get_by_text("No event is set aside")).to_be_visible()


def test_a_queue_that_is_not_there_says_so_once(page: Page, watch: Watch) -> None:
    watch.expect_status(404, "/api/v1/queues/")
    page.emulate_media(color_scheme="dark")
    page.goto("/ui/queues/supervisor:none/nothing")

    expect(page.get_by_role("alert")).to_contain_text("There is no such event queue")
    expect(page.get_by_role("heading", name="Events set aside")).to_have_count(0)
    assert_accessible(page)
