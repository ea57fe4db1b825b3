"""From Home to the partition that lags: where it is, by how much, and of when that is known."""

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.supervisor.conftest import Reader

pytestmark = [pytest.mark.process, pytest.mark.kafka]


def test_an_item_of_lag_leads_to_the_partitions_it_names(page: Page, reader: Reader) -> None:
    """A real lag rises for a quarter of an hour before it is an item: so the answer is changed."""

    def with_lag(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        item = {
            "severity": "at-risk",
            "kind": "lag-rising",
            "about": {"kind": "supervisor", "id": reader.id},
            "text": f"{reader.id} reads more slowly than its topic grows: it is 4 records behind, "
            f"most of it in partition 1 of topic {reader.id} (3), partition 2 (1)",
            "since": document["at"],
            "remedies": [],
            "dataSource": None,
            "supervisors": [],
            "partitions": [{"topic": reader.id, "partition": n} for n in (1, 2)],
        }
        document |= {"attention": [item], "totals": {"broken": 0, "atRisk": 1, "toKnow": 0}}
        route.fulfill(response=answer, body=json.dumps(document))

    page.route("**/api/v1/overview", with_lag)
    page.goto("/ui/")

    expect(page.get_by_role("heading", level=1)).to_have_text(f"supervisor {reader.id} at risk")
    expect(page.get_by_text(re.compile("unread records, as of (just now|.* ago)"))).to_be_visible()
    items = page.get_by_role("region", name="Needs somebody").get_by_role("listitem")
    items.get_by_role("link", name="partition 2").click()
    expect(page).to_have_url(re.compile(rf"only=behind.*sel={reader.id}(:|%3A)2"))
    page.go_back()
    items.get_by_role("link", name=reader.id).click()

    expect(page.get_by_role("table", name="Partitions")).to_be_visible()
    expect(page).to_have_url(
        re.compile(rf"/ui/supervisors/{reader.id}/partitions\?.*only=behind.*sort=-lagRecords")
    )
    expect(page).to_have_url(re.compile(rf"sel={reader.id}(:|%3A)1"))
