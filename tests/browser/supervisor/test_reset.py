"""The dialog that sets offsets does what its preview has shown, or shows the new one."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import PARTITIONS, RECORDS, Reader, all_at
from tests.browser.watch import Watch
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_PREVIEWS = "**/reset?*dryRun=true*"


def _dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="set offsets")


def _rows(dialog: Locator) -> list[list[str]]:
    """Wait for the preview and return its cells, row by row; the sum is the last one."""
    table = dialog.get_by_role("region", name="What it does").locator("tbody tr, tfoot tr")
    expect(table).to_have_count(PARTITIONS + 1)
    return [row.locator("td").all_inner_texts() for row in table.all()]


def _hold_previews(page: Page) -> list[Route]:
    """Keep the dialog from looking again; return what it has asked in vain, also later."""
    held: list[Route] = []

    def hold(route: Route) -> None:  # Playwright takes no method of a list
        held.append(route)

    page.route(_PREVIEWS, hold)
    return held


def _confirm(dialog: Locator, number: int) -> None:
    """Type the number of records, and act."""
    button = dialog.get_by_role("button", name="Set offsets")
    expect(button).to_be_disabled()
    dialog.get_by_label("to confirm").fill(f"{number:,}")
    button.click()


def test_from_the_earliest_all_is_read_again(page: Page, reader: Reader) -> None:
    reader.go_on_at(40)
    page.goto(f"{reader.page}?do=reset")
    dialog = _dialog(page)
    dialog.get_by_label("earliest").check()
    rows = _rows(dialog)
    assert [row[1:3] for row in rows[:-1]] == [["40", "0"]] * PARTITIONS
    assert rows[-1][-1].startswith("120 records twice")

    _confirm(dialog, 120)

    expect(dialog).to_have_count(0)
    assert reader.committed() == all_at(0)
    assert [gap for gap in reader.gaps() if gap[0] == "repeated"] == [
        ("repeated", n, 0, 40) for n in range(PARTITIONS)
    ]
    assert "do=" not in page.url


def test_at_a_time_it_goes_on_with_the_first_record_of_then(page: Page, reader: Reader) -> None:
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
    wait_until(lambda: datetime.now(UTC) >= at)
    reader.send(10)
    page.goto(f"{reader.page}?do=reset")
    dialog = _dialog(page)
    dialog.get_by_label("a time").check()
    dialog.get_by_label("The first record of this time").fill(f"{at:%Y-%m-%dT%H:%M:%S}")
    rows = _rows(dialog)
    assert [row[1:3] for row in rows[:-1]] == [["0", str(RECORDS)]] * PARTITIONS
    assert rows[-1][1] == str(PARTITIONS * RECORDS)

    _confirm(dialog, PARTITIONS * RECORDS)

    expect(dialog).to_have_count(0)
    assert reader.committed() == all_at(RECORDS)
    assert reader.gaps() == [("skipped", n, 0, RECORDS) for n in range(PARTITIONS)]


def test_a_preview_that_has_changed_is_marked_and_read_again(page: Page, reader: Reader) -> None:
    page.goto(f"{reader.page}?do=reset&to=latest")
    reader.go_on_at(40)
    page.goto(f"{reader.page}?do=reset&to=earliest")
    dialog = _dialog(page)
    _rows(dialog)

    held = _hold_previews(page)
    reader.go_on_at(50)
    page.unroute(_PREVIEWS)
    for route in held:
        route.continue_()

    expect(dialog.get_by_role("alert")).to_contain_text("would do something else now")
    expect(dialog.locator("tr[data-changed=true]")).to_have_count(PARTITIONS)
    dialog.get_by_label("to confirm").fill("150")
    expect(dialog.get_by_role("button", name="Set offsets")).to_be_disabled()
    dialog.get_by_role("button", name="I have read it").click()
    _confirm(dialog, 150)
    expect(dialog).to_have_count(0)
    assert reader.committed() == all_at(0)


def test_an_act_of_an_outdated_preview_does_nothing(
    page: Page, reader: Reader, watch: Watch
) -> None:
    """Goal: it is refused before the dialog has looked again; the new preview is shown at once."""
    reader.go_on_at(40)
    page.goto(f"{reader.page}?do=reset&to=earliest")
    dialog = _dialog(page)
    _rows(dialog)
    _hold_previews(page)
    reader.go_on_at(50)
    watch.expect_status(409, f"/druid/indexer/v1/supervisor/{reader.id}/reset")

    with page.expect_response(lambda each: each.status == 409) as refused:
        _confirm(dialog, 120)

    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text("Nothing was done")
    alert.get_by_text("details", exact=True).click()
    request = refused.value.headers["x-request-id"]
    expect(alert.get_by_text(f"request {request}")).to_be_visible()
    assert_accessible(page)
    assert reader.committed() == all_at(50)
    assert [row[1] for row in _rows(dialog)[:-1]] == ["50"] * PARTITIONS


def test_its_address_fills_it_in_also_after_a_reload(page: Page, reader: Reader) -> None:
    page.goto(f"{reader.page}?do=reset&to=offsets&offset=1%3D7")
    for _ in range(2):
        dialog = _dialog(page)
        expect(dialog.get_by_label("per partition")).to_be_checked()
        expect(dialog.get_by_label("Next offset of partition 1")).to_have_value("7")
        expect(dialog.get_by_label("to confirm")).to_be_visible()
        page.reload()


def test_offsets_that_change_nothing_cannot_be_set(page: Page, reader: Reader) -> None:
    reader.go_on_at(40)
    page.goto(f"{reader.page}?do=reset&to=offsets&offset=1%3D40")
    dialog = _dialog(page)
    row = dialog.get_by_role("row").filter(has=page.get_by_label("Next offset of partition 1"))
    expect(row.get_by_role("cell")).to_have_text(["1", "40", "60", "20", ""])
    expect(dialog.get_by_text("Nothing changes")).to_be_visible()
    expect(dialog.get_by_role("button", name="Set offsets")).to_be_disabled()
    assert_accessible(page)

    dialog.get_by_label("Next offset of partition 1").fill("41")
    expect(dialog.get_by_text("Nothing changes")).to_have_count(0)
