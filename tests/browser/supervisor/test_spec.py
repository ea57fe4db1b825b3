"""A spec is changed by form and by JSON, and a change of somebody else is not lost."""

import json
import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Locator, Page, Route, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import Reader
from tests.browser.watch import Watch
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS

pytestmark = [pytest.mark.process, pytest.mark.kafka]


def _stored(reader: Reader) -> dict[str, JsonValue]:
    """Return the ioConfig of the newest version."""
    answer = reader.overlord.http.get(f"{SUPERVISORS}/{reader.id}").raise_for_status()
    config: dict[str, JsonValue] = answer.json()["spec"]["ioConfig"]
    return config


def _newest(reader: Reader) -> tuple[int, JsonValue]:
    """Return number and reason of the newest version."""
    path = f"/api/v1/supervisors/{reader.id}/history"
    newest = reader.overlord.http.get(path).raise_for_status().json()["versions"][0]
    return newest["versionNumber"], newest["reason"]


def _editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="The spec as JSON")


def _write(page: Page, document: JsonValue) -> None:
    """Have the editor hold a document."""
    _editor(page).click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(json.dumps(document, indent=1))


def _save(page: Page, version: int, reason: str) -> None:
    page.get_by_role("button", name=f"Save as version {version}…").click()
    dialog = page.get_by_role("dialog", name=f"save as version {version}")
    dialog.get_by_label("Reason").fill(reason)
    expect(dialog.get_by_text(f"--reason '{reason}'").first).to_be_visible()
    dialog.get_by_role("button", name=f"Save as version {version}", exact=True).click()


def _edit_by_another(reader: Reader, **fields: JsonValue) -> None:
    """Store another version, by the API."""
    document = spec(reader.bootstrap, reader.id, task_count=1)
    inner = document["spec"]
    assert isinstance(inner, dict)
    config = inner["ioConfig"]
    assert isinstance(config, dict)
    config.update(fields)
    headers = {"X-Druid-Author": "bob"}
    reader.overlord.http.post(SUPERVISORS, json=document, headers=headers).raise_for_status()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anybody_can_read_and_use_it(page: Page, reader: Reader, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"/ui/supervisors/{reader.id}/spec")
    page.get_by_label("Task duration").fill("PT25S")
    expect(page.get_by_role("list", name="Changes")).to_contain_text("ioConfig.taskDuration")
    assert_accessible(page)
    for view in ("json", "diff"):
        page.goto(f"/ui/supervisors/{reader.id}/spec?view={view}")
        expect(page.locator(".cm-content")).to_be_visible()
        expect(page.get_by_text("valid", exact=True)).to_be_visible()
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280, f"{view} is {width} px wide"
    page.get_by_role("button", name="Save as version 2…").click()
    expect(page.get_by_role("dialog").get_by_text("curl -X POST")).to_be_visible()
    assert_accessible(page)


def test_a_step_leads_to_its_field_with_the_value_that_it_proposes(
    page: Page, reader: Reader
) -> None:
    """Nothing is changed by the address alone: the person puts the value into the draft."""
    field, name = "/spec/tuningConfig/resetOffsetAutomatically", "resetOffsetAutomatically"
    page.goto(f"/ui/supervisors/{reader.id}/spec?field={field}&value=true")
    row = page.get_by_text("This is the field to change.").locator("xpath=../..")
    expect(row).to_contain_text(name)
    expect(row.locator("select")).to_be_focused()
    expect(row).to_be_in_viewport()
    proposal = page.get_by_role("region", name="The step that led here")
    words = f"The field to change is tuningConfig.{name}, and the proposed value is true"
    expect(proposal).to_contain_text(words)
    expect(page.get_by_text("This is version 1, the newest")).to_be_visible()
    assert_accessible(page)

    proposal.get_by_role("button", name="Put it into the draft").click()
    expect(row.locator("select")).to_have_value("true")
    expect(page.get_by_role("list", name="Changes")).to_contain_text(name)
    expect(proposal).to_contain_text("which the draft has as true already")
    assert _newest(reader)[0] == 1
    proposal.get_by_role("button", name="Close").click()
    expect(proposal).to_have_count(0)

    page.goto(f"/ui/supervisors/{reader.id}/spec?field=/spec/ioConfig/consumerProperties/x&value=1")
    expect(_editor(page)).to_be_focused()


def test_an_unknown_field_is_named_with_the_nearest_and_mended_by_one_click(
    page: Page, reader: Reader
) -> None:
    document = spec(reader.bootstrap, reader.id, task_count=1)
    inner = document["spec"]
    assert isinstance(inner, dict)
    config = inner["ioConfig"]
    assert isinstance(config, dict)
    config["taskCoun"] = config.pop("taskCount")
    document["context"] = {"big": 9_007_199_254_740_993}
    page.goto(f"/ui/supervisors/{reader.id}/spec?view=json")
    _write(page, document)
    problems = page.get_by_role("list", name="Problems")
    expect(problems).to_contain_text("unknown field taskCoun")
    expect(problems).to_contain_text("did you mean taskCount?")
    expect(page.locator(".cm-lintRange-error")).to_have_text('"taskCoun"')
    expect(page.get_by_role("button", name="Save as version 2…")).to_be_disabled()

    problems.get_by_role("button", name="Use taskCount").click()

    expect(problems).to_have_count(0)
    _save(page, 2, "a number of 54 bits")
    expect(page.get_by_text("This is version 2, the newest.")).to_be_visible()
    assert _newest(reader) == (2, "a number of 54 bits")
    answer = reader.overlord.http.get(f"{SUPERVISORS}/{reader.id}").raise_for_status()
    assert answer.json()["context"] == {"big": 9_007_199_254_740_993}, "a digit is lost"


def test_a_draft_of_the_form_outlives_a_reload_and_is_stored_with_its_reason(
    page: Page, reader: Reader
) -> None:
    page.goto(f"/ui/supervisors/{reader.id}/spec")
    page.get_by_label("Task duration").fill("PT")
    changed = page.get_by_role("list", name="Problems")
    expect(changed).to_contain_text("is not an ISO 8601 duration")
    page.get_by_label("Task duration").fill("PT1M")
    expect(page.get_by_role("list", name="Changes")).to_contain_text("hot")

    page.reload()

    expect(page.get_by_label("Task duration")).to_have_value("PT1M")
    page.get_by_role("link", name="Partitions").click()
    page.get_by_role("button", name="Stay").click()
    page.get_by_role("button", name="Check").click()
    checked = page.get_by_role("status", name="Check")
    expect(checked).to_contain_text("3 partitions")
    expect(checked).to_contain_text("no worker is connected")
    _save(page, 2, "fewer handoffs")
    expect(page.get_by_text("This is version 2, the newest.")).to_be_visible()
    assert _stored(reader)["taskDuration"] == "PT60S"
    assert _newest(reader) == (2, "fewer handoffs")
    page.get_by_role("link", name="Overview").click()
    expect(page).to_have_url(re.compile("/overview"))


def test_what_another_stores_meanwhile_is_merged_and_nothing_is_lost(
    page: Page, reader: Reader, watch: Watch
) -> None:
    """Goal: also where the page has not seen the other version: the overlord refuses with 412."""
    page.goto(f"/ui/supervisors/{reader.id}/spec")
    page.get_by_label("Task duration").fill("PT50S")
    page.get_by_label("Task count", exact=True).fill("3")
    expect(page.get_by_role("button", name="Save as version 2…")).to_be_enabled()
    held: list[Route] = []

    def hold(route: Route) -> None:  # Playwright takes no method of a list
        held.append(route)

    newest = re.compile(f"{SUPERVISORS}/{reader.id}$")
    page.route(newest, hold)
    _edit_by_another(reader, taskCount=2, replicas=2)
    watch.expect_status(412, SUPERVISORS)
    _save(page, 2, "faster handoffs")
    page.unroute(newest)
    for route in held:
        with suppress(Error):  # the page has given up what it asked before the refusal
            route.continue_()

    merge = page.get_by_role("dialog", name="somebody else has stored version 2")
    rows = merge.get_by_role("table", name="Three versions").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("ioConfig.taskCount")
    assert_accessible(page)
    forth = merge.get_by_role("button", name="Go on from version 2")
    expect(forth).to_be_disabled()
    merge.get_by_label("newest").check()
    forth.click()

    _save(page, 3, "faster handoffs")
    expect(page.get_by_text("This is version 3, the newest.")).to_be_visible()
    stored = _stored(reader)
    wanted = {"taskCount": 2, "replicas": 2, "taskDuration": "PT50S"}
    assert {name: stored[name] for name in wanted} == wanted
