"""Numbers of 64 bits in what is typed and sent: not one digit is lost."""

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.supervisor.conftest import Reader
from tests.browser.watch import Watch
from tests.integration.overlords import SUPERVISORS

pytestmark = [pytest.mark.process, pytest.mark.kafka]


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
