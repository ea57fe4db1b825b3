"""Numbers of 64 bits in what is typed, sent and shown: not one digit is lost."""

import json
import re

import pytest
from playwright.sync_api import Page, Request, expect
from pydantic import JsonValue

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import PARTITIONS, RECORDS, Reader
from tests.browser.watch import Watch
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_LONGS: JsonValue = {"least": _LEAST, "most": _MOST}


@pytest.mark.parametrize("offset", ["9007199254740993", "9223372036854775806"])
def test_an_offset_is_sent_as_it_was_typed(
    page: Page, reader: Reader, watch: Watch, offset: str
) -> None:
    """Goal: 2^53 + 1 has no double of its own; the overlord has to be asked for it all the same."""
    watch.allow_status(400, f"{SUPERVISORS}/{reader.id}/resetOffsets")
    watch.allow_status(409, f"{SUPERVISORS}/{reader.id}/resetOffsets")

    def asks_for_it(request: Request) -> bool:
        sent = (request.post_data or "").replace(" ", "")
        return "/resetOffsets" in request.url and f":{offset}}}" in sent

    with page.expect_request(asks_for_it):
        page.goto(f"{reader.page}?do=reset&to=offsets&offset=0%3D{offset}")
    field = page.get_by_role("dialog").get_by_label("Next offset of partition 0")
    expect(field).to_have_value(offset)
    with page.expect_request(asks_for_it):
        field.fill("7")
        field.fill(offset)


def test_offsets_of_pasted_json_come_back_in_the_refusal_digit_by_digit(
    page: Page, reader: Reader, watch: Watch
) -> None:
    """Goal: the overlord says what it was sent, and what Kafka holds; what is no offset stays."""
    path = f"{SUPERVISORS}/{reader.id}/resetOffsets"
    watch.expect_status(400, path)
    page.goto(f"{reader.page}?do=reset&to=json")
    dialog = page.get_by_role("dialog", name="set offsets")
    pasted = dialog.get_by_label("resetOffsets of Druid")

    with page.expect_request(lambda each: path in each.url) as sent:
        pasted.fill(f'{{"0": {_MOST}}}')

    assert json.loads(sent.value.post_data or "")["partitions"]["partitionOffsetMap"] == {
        "0": _MOST
    }
    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text(f"{reader.id}:0: {_MOST} is not an offset to go on at")
    expect(alert).to_contain_text(f"Kafka holds 0 to {RECORDS}")
    expect(dialog.get_by_role("button", name="Set offsets")).to_have_count(0)
    assert_accessible(page)
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.url))
    for number in (_LEAST, _MOST + 1, -1):
        pasted.fill(f'{{"0": {number}}}')
        expect(dialog.get_by_text(f"Partition 0: {number} is no offset.")).to_be_visible()
    assert not [url for url in asked if path in url]


@pytest.mark.parametrize(("shift", "to"), [(-_MOST, 0), (_MOST, RECORDS)])
def test_a_shift_goes_as_far_as_the_log_does(
    page: Page, reader: Reader, shift: int, to: int
) -> None:
    reader.go_on_at(40)
    page.goto(f"{reader.page}?do=reset&to=shift")
    dialog = page.get_by_role("dialog", name="set offsets")

    with page.expect_request(re.compile(f"/offsets\\?shift={shift}$")):
        dialog.get_by_label("So many records on").fill(str(shift))

    rows = dialog.get_by_role("region", name="What it does").locator("tbody tr")
    expect(rows).to_have_count(PARTITIONS)
    for row in rows.all():
        expect(row.get_by_role("cell").nth(2)).to_have_text(str(to))


def test_a_shift_beyond_what_offsets_can_be_is_refused_in_words(page: Page, reader: Reader) -> None:
    page.goto(f"{reader.page}?do=reset&to=shift")
    dialog = page.get_by_role("dialog", name="set offsets")
    for shift in (_LEAST, _MOST + 1):
        dialog.get_by_label("So many records on").fill(str(shift))
        expect(dialog.get_by_text("at most 9,223,372,036,854,775,807 records")).to_be_visible()


def test_longs_of_a_spec_are_stored_shown_and_sent_back_unrounded(
    page: Page, reader: Reader
) -> None:
    """Goal: also by somebody who changes another field in the form, and never sees them."""
    document = spec(reader.bootstrap, reader.id, task_count=1)
    document["context"] = _LONGS
    address = f"/ui/supervisors/{reader.id}/spec"
    page.goto(f"{address}?view=json")
    page.get_by_role("textbox", name="The spec as JSON").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(json.dumps(document, indent=1))
    _save(page, 2)
    assert _context(reader) == _LONGS

    page.goto(address)
    page.get_by_label("Task duration").fill("PT50S")
    _save(page, 3)

    assert _context(reader) == _LONGS
    page.goto(f"{address}?view=json")
    page.get_by_role("textbox", name="The spec as JSON").click()
    page.keyboard.press("ControlOrMeta+End")  # only what is in view is drawn
    for number in (_LEAST, _MOST):
        expect(page.locator(".cm-content")).to_contain_text(str(number))


def test_a_long_that_a_field_cannot_be_is_refused_with_what_it_can_be(
    page: Page, reader: Reader
) -> None:
    page.goto(f"/ui/supervisors/{reader.id}/spec")
    field = page.get_by_label("Task count", exact=True)

    field.fill(str(_MOST))

    problems = page.get_by_role("list", name="Problems")
    expect(problems).to_contain_text("ioConfig.taskCount")
    expect(problems).to_contain_text("must be at most 1000")
    expect(field).to_have_value(str(_MOST))
    expect(page.get_by_role("button", name="Save as version 2…")).to_be_disabled()


def _save(page: Page, version: int) -> None:
    page.get_by_role("button", name=f"Save as version {version}…").click()
    dialog = page.get_by_role("dialog", name=f"save as version {version}")
    dialog.get_by_role("button", name=f"Save as version {version}", exact=True).click()
    expect(page.get_by_text(f"This is version {version}, the newest.")).to_be_visible()


def _context(reader: Reader) -> JsonValue:
    answer = reader.overlord.http.get(f"{SUPERVISORS}/{reader.id}").raise_for_status()
    context: JsonValue = answer.json()["context"]
    return context
