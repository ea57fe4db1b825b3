"""The keyboard alone: a supervisor is found, and begun elsewhere, without a mouse."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.supervisor.conftest import PARTITIONS, Reader, all_at

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_STEPS_MAX = 80


def _tab_to(page: Page, wanted: Locator) -> None:
    """Press the tabulator until it is there; what has the focus can be seen all along."""
    for _ in range(_STEPS_MAX):
        page.keyboard.press("Tab")
        if wanted.evaluate("it => it === document.activeElement"):
            expect(wanted).to_be_in_viewport()
            return
    pytest.fail(f"the tabulator does not lead to {wanted}")


def test_a_supervisor_is_found_and_begun_elsewhere(page: Page, reader: Reader) -> None:
    reader.go_on_at(40)
    page.goto("/ui/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()
    page.keyboard.type(reader.id)
    expect(page.get_by_role("dialog")).to_contain_text(f"topic {reader.id}")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/ui/supervisors/{reader.id}/overview"))

    more = page.get_by_role("button", name="More")
    _tab_to(page, more)
    page.keyboard.press("Enter")
    item = page.get_by_role("menuitem", name="Set offsets…")
    expect(item).to_be_visible()
    for _ in range(_STEPS_MAX):
        if item.evaluate("it => it === document.activeElement"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    dialog = page.get_by_role("dialog", name="set offsets")
    earliest = dialog.get_by_label("earliest")
    _tab_to(page, dialog.get_by_role("radio", checked=True).or_(earliest).first)
    for _ in range(_STEPS_MAX):
        if earliest.is_checked():
            break
        page.keyboard.press("ArrowDown")
    number = dialog.get_by_label("to confirm")
    expect(number).to_be_visible()
    _tab_to(page, number)
    page.keyboard.type(str(40 * PARTITIONS))
    _tab_to(page, dialog.get_by_role("button", name="Set offsets"))
    page.keyboard.press("Enter")

    expect(dialog).to_have_count(0)
    assert reader.committed() == all_at(0)


def test_a_dialog_keeps_the_focus_and_gives_it_back(page: Page, reader: Reader) -> None:
    page.goto(reader.page)
    suspend = page.get_by_role("button", name="Suspend…")
    _tab_to(page, suspend)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="suspend")
    expect(dialog.get_by_text("tidegate supervisor suspend")).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        assert dialog.evaluate("it => it.contains(document.activeElement)")

    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    expect(suspend).to_be_focused()


def test_rows_are_walked_and_opened_by_keys(page: Page, reader: Reader) -> None:
    page.goto("/ui/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("table", name="Supervisors")).to_be_visible()
    page.goto(f"/ui/supervisors?q={reader.id}*")
    row = page.get_by_role("table", name="Supervisors").locator("tbody tr").first
    expect(row.get_by_role("link", name=reader.id).first).to_be_visible()
    page.keyboard.press("j")
    expect(row).to_have_attribute("aria-current", "true")
    page.keyboard.press("x")
    expect(page.get_by_label(f"Select {reader.id}")).to_be_checked()
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile("/ui/supervisors/.*/overview"))
