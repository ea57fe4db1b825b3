"""The versions of a spec: who stored each, what differs, and the way back."""

import re

import pytest
from playwright.sync_api import Page, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import Reader
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS

pytestmark = [pytest.mark.process, pytest.mark.kafka]


def _store(reader: Reader, task_duration: str, reason: str) -> None:
    document = spec(reader.bootstrap, reader.id, task_count=1, task_duration=task_duration)
    headers = {"X-Druid-Author": "alice"}
    answer = reader.overlord.http.post(
        SUPERVISORS, json=document, headers=headers, params={"reason": reason}
    )
    answer.raise_for_status()


def _duration(reader: Reader) -> JsonValue:
    answer = reader.overlord.http.get(f"{SUPERVISORS}/{reader.id}").raise_for_status()
    duration: JsonValue = answer.json()["spec"]["ioConfig"]["taskDuration"]
    return duration


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anybody_can_read_and_use_it(page: Page, reader: Reader, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"/ui/supervisors/{reader.id}/history")
    expect(page.get_by_text("There is one version only")).to_be_visible()
    assert_accessible(page)
    _store(reader, "PT30S", "slower")
    for form in ("unified", "side&all=yes"):
        page.goto(f"/ui/supervisors/{reader.id}/history?diff={form}")
        expect(page.get_by_text("1 field differs: ioConfig.taskDuration.")).to_be_visible()
        expect(page.locator(".cm-content").first).to_be_visible()
        assert_accessible(page)
        folded = page.locator(".cm-collapsedLines")
        if form == "unified":
            sign = folded.first.evaluate("each => getComputedStyle(each, '::before').content")
            assert sign == '"…"', "few fonts have the sign of the package"
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280, f"{form} is {width} px wide"
    page.goto(f"/ui/supervisors/{reader.id}/history?rollback=1")
    expect(page.get_by_role("dialog").get_by_text("tidegate supervisor rollback")).to_be_visible()
    assert_accessible(page)


def test_versions_are_listed_compared_and_rolled_back(page: Page, reader: Reader) -> None:
    _store(reader, "PT30S", "slower")
    _store(reader, "PT40S", "slower still")
    page.goto(f"/ui/supervisors/{reader.id}/history")
    rows = page.get_by_role("table", name="Versions").locator("tbody tr")
    expect(rows).to_have_count(3)
    for text in ("alice", "changed", "ioConfig.taskDuration", "hot", "slower still"):
        expect(rows.first).to_contain_text(text)
    expect(rows.last).to_contain_text("created")

    page.get_by_label("Left: version 1").check()
    expect(page).to_have_url(re.compile("left=1"))
    page.reload()

    comparison = page.get_by_role("region", name="Comparison of two versions")
    expect(comparison).to_contain_text("From version 1 to version 3")
    expect(comparison.locator(".cm-content")).to_contain_text("PT20S")
    expect(comparison.locator(".cm-content")).to_contain_text("PT40S")

    rows.last.get_by_role("button", name="Roll back to v1…").click()
    dialog = page.get_by_role("dialog", name="roll back to version 1")
    expect(dialog.get_by_role("table", name="Changed fields")).to_contain_text("PT40S")
    dialog.get_by_label("Reason").fill("as it was")
    dialog.get_by_role("button", name="Roll back", exact=True).click()

    expect(dialog).to_have_count(0)
    expect(rows).to_have_count(4)
    for text in ("rolled-back", "as it was", "hot"):
        expect(rows.first).to_contain_text(text)
    assert _duration(reader) == "PT20S"
