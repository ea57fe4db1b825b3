"""What a reset's preview says is what the oracle then finds, while ranges publish underneath.

Slow: 20 resets of a supervisor that reads a stream with Spark, each in the browser.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NotYet

from supervisor.dev.broker import Broker
from tests.browser.watch import Watch
from tests.environment.brokers import create_topic, produce, read_records
from tests.integration.cluster import SUPERVISORS, Cluster
from tests.integration.oracle import ends_of, ids_in_files, record, spec, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

_TOPIC = "resets"
_PARTITIONS = 2
_TIMES = 20
_RANGE = re.compile("([0-9,]+)\N{EN DASH}([0-9,]+) ")
_CLICK_MS = 3_000

_Records: TypeAlias = Counter[tuple[int, int]]
"""(Partition, offset) -> how often."""


def test_twenty_resets_do_what_their_previews_have_shown(
    page: Page, watch: Watch, cluster: Cluster, broker: Broker
) -> None:
    create_topic(broker.bootstrap, _TOPIC, partitions=_PARTITIONS)
    produce(broker.bootstrap, _TOPIC, (record(n, "first") for n in range(200)))
    cluster.apply(spec(broker.bootstrap, _TOPIC, task_count=1, task_duration="PT5S"))
    wait_until(lambda: len(cluster.publications(_TOPIC)) > 0)
    watch.allow_status(409, f"{SUPERVISORS}/{_TOPIC}/")
    skipped, repeated = Counter[tuple[int, int]](), Counter[tuple[int, int]]()

    with streaming(broker.bootstrap, _TOPIC, rate_per_s=40):
        for place in _places(datetime.now(UTC)):
            page.goto(f"/ui/supervisors/{_TOPIC}/overview?{urlencode(place)}")
            less, more = _reset(page)
            skipped += less
            repeated += more
    ends = ends_of(broker.bootstrap, _TOPIC)
    wait_until(lambda: cluster.status(_TOPIC)["committedOffsets"] == ends)

    sent = read_records(broker.bootstrap, _TOPIC)
    expected: Counter[str] = Counter()
    for at, (each, _) in sent.items():
        assert each.value is not None
        id_ = re.search(rb'"id":"([^"]+)"', each.value)
        assert id_ is not None
        expected[id_[1].decode()] = 1 - skipped[at] + repeated[at]
    assert ids_in_files(cluster.files(_TOPIC)) == +expected
    assert skipped.total() > 0
    assert repeated.total() > 0


def _places(now: datetime) -> Iterator[dict[str, str]]:
    """Yield the query of each dialog's address: earliest, latest, a time, shifts, offsets."""
    for n in range(_TIMES // 5):
        yield {"do": "reset", "to": "earliest"}
        yield {"do": "reset", "to": "latest"}
        yield {"do": "reset", "to": "time", "at": f"{now - timedelta(seconds=n):%FT%T}Z"}
        yield {"do": "reset", "to": "shift", "shift": str((-1) ** n * 30)}
        yield {"do": "reset", "to": "offsets", "offset": f"{n % _PARTITIONS}={17 + n}"}


def _reset(page: Page) -> tuple[_Records, _Records]:
    """Read the preview and confirm it, again after each refusal; return skipped, read again."""
    dialog = page.get_by_role("dialog", name="set offsets")
    outdated = dialog.get_by_role("button", name="I have read it")
    while True:
        skipped, repeated = _effect(dialog)
        number = skipped.total() + repeated.total()
        if number:
            dialog.get_by_label("to confirm").fill(f"{number:,}")
        try:
            dialog.get_by_role("button", name="Set offsets").click(timeout=_CLICK_MS)
        except NotYet:
            outdated.click()  # it has changed meanwhile, and cannot be confirmed
            continue
        expect(outdated.or_(page.get_by_text(f"The offsets of {_TOPIC} are set."))).to_be_visible()
        if not outdated.is_visible():
            return skipped, repeated
        outdated.click()


def _effect(dialog: Locator) -> tuple[_Records, _Records]:
    rows = dialog.get_by_role("region", name="What it does").locator("tbody tr")
    expect(rows.first).to_be_visible()
    effects = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for row in rows.all():
        partition, _, _, skipped, lost, repeated = row.locator("td").all_inner_texts()
        assert lost == "0"
        number = int(partition.rpartition(":")[2])
        for effect, text in zip(effects, (skipped, repeated), strict=True):
            effect.update((number, offset) for offset in _offsets(text))
    return effects


def _offsets(text: str) -> range:
    """Read the first offset, the last one and their number; or 0."""
    matched = _RANGE.match(text)
    if matched is None:
        assert text == "0"
        return range(0)
    first, last = (int(each.replace(",", "")) for each in matched.groups())
    return range(first, last + 1)
