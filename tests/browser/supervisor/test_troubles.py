"""Home says in words what is wrong, and its buttons lead to the dialogs that mend it."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Page, expect

from tests.browser.accessible import assert_accessible
from tests.browser.supervisor.conftest import Reader
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka]

_NO_BROKER = "127.0.0.1:1"
_TOPIC_WAIT_S = 30


def _attention(overlord: Overlord) -> dict[str, str]:
    """Return supervisor, or list of brokers -> the sentence about it."""
    answer = overlord.http.get("/api/v1/overview").raise_for_status()
    items: list[dict[str, dict[str, str]]] = answer.json()["attention"]
    return {item["about"]["id"]: str(item["text"]) for item in items}


@pytest.fixture
def broken(reader: Reader) -> Iterator[Reader]:
    """A supervisor whose topic is gone, and one without a broker; both are ended afterwards."""
    http = reader.overlord.http
    http.post(SUPERVISORS, json=spec(_NO_BROKER, "away", task_count=1)).raise_for_status()
    admin = AdminClient({"bootstrap.servers": reader.bootstrap, "log_level": 0})
    admin.delete_topics([reader.id])[reader.id].result(_TOPIC_WAIT_S)
    wait_until(lambda: {reader.id, _NO_BROKER} <= _attention(reader.overlord).keys())
    yield reader
    for each in (reader.id, "away"):
        http.post(f"{SUPERVISORS}/{each}/terminate").raise_for_status()


def test_home_names_each_trouble_and_leads_to_what_mends_it(page: Page, broken: Reader) -> None:
    page.goto("/ui/")
    items = page.get_by_role("region", name="Needs somebody").get_by_role("listitem")
    expect(page.get_by_role("heading", level=1)).to_contain_text("3 things broken")
    expect(items.filter(has_text="no worker is connected")).to_have_count(1)
    away = items.filter(has_text=f"the Kafka brokers {_NO_BROKER} cannot be read")
    expect(away).to_contain_text("nothing new is read by away")
    expect(away).to_contain_text(f"no answer from {_NO_BROKER}")
    gone = items.filter(has_text=f"{broken.id} is UNHEALTHY_SUPERVISOR (TOPIC_GONE)")
    expect(gone).to_contain_text(f"topic {broken.id} does not exist any more")
    assert_accessible(page)

    gone.get_by_role("button", name=f"Create the topic {broken.id}").click()
    expect(page.get_by_text(f"--create --topic {broken.id} --partitions 3")).to_be_visible()
    page.keyboard.press("Escape")
    gone.get_by_role("button", name="2 more").click()
    command = f"tidegate supervisor terminate {broken.id}"
    step = page.get_by_role("listitem").filter(has_text=command)
    step.get_by_role("button", name="Open…").click()

    dialog = page.get_by_role("dialog", name=f"{broken.id}: terminate")
    expect(dialog.get_by_role("button", name="Terminate", exact=True)).to_be_enabled()
    head = page.locator("main p").filter(has_text="does not exist any more")
    expect(head).to_have_count(1)  # the error of the state is there once
