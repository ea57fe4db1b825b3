"""Bad records whose keys, values and headers are hostile: real ones, of Kafka, read by Spark."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import Page, Request, Route, expect

from supervisor.dev.broker import Broker
from tests.browser.hostile.answers import FIRST, LAST, TEXTS, Answers, Document, grouped
from tests.browser.hostile.conftest import Judge
from tests.browser.hostile.payloads import LONG, PAYLOADS, shown
from tests.browser.rows.conftest import Published, publish_hostile
from tests.integration.cluster import Cluster

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark]

_VALUES = (*TEXTS, LONG[:900_000])
_SHOWN_MAX = 65_536
"""Signs of a value that the panel draws."""


@pytest.fixture(scope="module")
def kept(cluster: Cluster, broker: Broker) -> Published:
    """A supervisor that could not read any payload; each was key, value and header."""
    return publish_hostile(cluster, broker, "payloads", _VALUES)


def test_records_of_kafka(judge: Judge, page: Page, kept: Published) -> None:
    judge.go(f"/ui/supervisors/{kept.id}/bad-records")
    drawn = page.get_by_role("table", name="Bad records").locator("tbody tr")
    expect(drawn).to_have_count(len(_VALUES))
    texts = drawn.all_text_contents()
    for text in TEXTS:
        line = re.sub(r"\s+", " ", shown(text))
        assert any(row.count(line) == 2 for row in texts), text
    assert any("<b>x</b><b>x</b>" in row and len(row) < 1_000 for row in texts)
    judge.is_calm()
    judge.fits()

    panel = page.get_by_role("complementary")
    for n in (PAYLOADS.index("__proto__"), len(TEXTS) - 3, len(_VALUES) - 1):
        judge.go(f"/ui/supervisors/{kept.id}/bad-records?record={kept.id}:0:{n}")
        drawn = panel.locator("pre")
        expect(drawn).to_have_count(3)
        key, value, header = drawn.all_text_contents()
        text = _VALUES[n]
        assert (key, value, header) == (
            shown(text)[:200],
            shown(text)[:_SHOWN_MAX],
            shown(text)[:200],
        )
        expect(panel).to_contain_text(f"Header {shown(text)[:200]}")
        judge.is_calm()
        judge.fits()
    page.get_by_text("Newest samples").click()
    samples = page.get_by_role("table", name="Samples of bad records").locator("tbody tr")
    expect(samples.first).to_be_visible()
    judge.is_calm()
    judge.fits()


def test_a_preview_of_a_record(judge: Judge, page: Page, kept: Published) -> None:
    """Goal: why it is no row, of Spark itself; then a row with hostile columns and 64 bits."""
    first = PAYLOADS.index('{"__proto__":{"hostile":true}}')
    judge.go(f"/ui/supervisors/{kept.id}/bad-records?record={kept.id}:0:{first}")
    outcome = page.get_by_role("region", name="With today's spec")
    trial = page.get_by_role("button", name="Try with today's spec")
    trial.click()
    expect(outcome.get_by_text("no row")).to_be_visible()
    judge.is_calm()

    nested = {"least": FIRST, "all": [LAST, -LAST]}
    parsed = {**{text: text for text in TEXTS}, "number": FIRST, "nested": nested}
    body = json.dumps({"numRowsRead": 1, "numRowsIndexed": 1, "data": [{"parsed": parsed}]})
    page.route(
        "**/sampler", lambda route: route.fulfill(content_type="application/json", body=body)
    )
    trial.click()
    expect(outcome.get_by_text("a row")).to_be_visible()
    columns = outcome.locator("dl > div").all_text_contents()
    assert columns[: len(TEXTS)] == [2 * shown(text) for text in TEXTS]
    expect(outcome).to_contain_text(f"number{FIRST}")
    expect(outcome).to_contain_text(f'{{"least":{FIRST},"all":[{LAST},{-LAST}]}}')
    judge.is_calm()
    judge.fits()


def test_reasons_and_offsets_of_64_bits(judge: Judge, page: Page, kept: Published) -> None:
    """Goal: a page asks for the very record that it shows."""
    offsets = [LAST - n for n in range(len(TEXTS))]
    answers, path = Answers(page), f"/api/v1/supervisors/{kept.id}/quarantine"
    reasons = dict.fromkeys(TEXTS, FIRST)
    answers.change(rf"{path}\?", partial(_records, kept.id, reasons))
    answers.change(rf"{path}/summary", partial(_summary, kept.id))
    page.route(f"**{path}/{kept.id}/0/*", partial(_record, kept.id, offsets))

    judge.go(f"/ui/supervisors/{kept.id}/bad-records")
    drawn = page.get_by_role("table", name="Bad records").locator("tbody tr")
    expect(drawn).to_have_count(len(TEXTS))
    for text, offset, row in zip(TEXTS, offsets, drawn.all_text_contents(), strict=True):
        assert shown(text) in row
        assert grouped(offset) in row
    for text in TEXTS:
        name = f"{shown(text)} {grouped(FIRST)}"
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    judge.shows(*TEXTS)
    judge.fits()
    page.get_by_text("As a table").click()
    counts = page.get_by_role("table", name="Counts of bad records").locator("tbody tr")
    expect(counts.first).to_contain_text(grouped(LAST))

    def asks(request: Request) -> bool:
        return request.url.endswith(f"{path}/{kept.id}/0/{LAST}")

    with page.expect_request(asks):
        page.get_by_role("link", name=grouped(LAST), exact=True).click()
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text(shown(TEXTS[0]))
    expect(panel).to_contain_text(f"{kept.id}:0 {LAST}")
    judge.is_calm()
    judge.fits()


def _row(topic: str, text: str, offset: int) -> Document:
    sizes = {"keyBytes": LAST, "valueBytes": LAST, "headers": [], "cut": False}
    none = {"key": None, "keyBase64": None, "value": None, "valueBase64": None}
    place = {"topic": topic, "partition": 0, "offset": offset}
    return {**place, **sizes, **none, "reason": text, "time": "2026-01-01T00:00:00Z"}


def _records(topic: str, reasons: dict[str, int], document: Document) -> Document:
    records = [_row(topic, text, LAST - n) for n, text in enumerate(TEXTS)]
    return {**document, "records": records, "reasons": reasons, "next": None}


def _summary(topic: str, document: Document) -> Document:
    counts = [{"reason": text, "topic": topic, "partition": 0, "records": LAST} for text in TEXTS]
    bucket = {"start": "2026-01-01T00:00:00Z", "records": LAST, "counts": counts}
    return {**document, "buckets": [bucket], "reasons": dict.fromkeys(TEXTS, LAST), "undated": LAST}


def _record(topic: str, offsets: list[int], route: Route) -> None:
    offset = int(route.request.url.rsplit("/", 1)[1])
    text = TEXTS[offsets.index(offset)]
    body = json.dumps(_row(topic, text, offset))
    headers = {"x-request-id": "1"}
    route.fulfill(content_type="application/json", headers=headers, body=body)
