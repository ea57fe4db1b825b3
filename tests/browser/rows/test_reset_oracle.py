"""What a reset's preview says is what the oracle then finds, while ranges publish underneath.

    dialog: which offsets are skipped, lost, read again ─┐
    an independent reader: which record each offset has ─┴► how often each id has to be a row
    files of the table: how often each id is one ─────────► the same multiset

What is read beside is skipped by one supervisor and read once by another: it is a row as before.

Slow: 22 resets of a supervisor that reads a stream with Spark, each in the browser.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from urllib.parse import urlencode

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
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
_ROUNDS = 3
_KINDS = ("latest", "time", "shift", "offsets", "json", "earliest", "beside")
"""What lags is read beside: so the last one follows the one that goes back to the earliest."""
_OVERTAKEN = ("json", "shift", "beside")
"""Round -> the kind whose preview a publish makes outdated for certain."""
_DELETED = 20
_RANGE = re.compile("([0-9,]+)\N{EN DASH}([0-9,]+) ")
_CLICK_MS = 3_000

_Places: TypeAlias = Counter[tuple[int, int]]
"""(Partition, offset) -> how often."""


@dataclass(frozen=True)
class _Effect:
    """What a dialog has shown of a reset that was then done."""

    kind: str
    skipped: _Places
    lost: _Places
    repeated: _Places

    def moves(self, at: tuple[int, int]) -> int:
        """Return how many rows more the record of an offset becomes by this reset."""
        left_out = self.lost[at] + (0 if self.kind == "beside" else self.skipped[at])
        return self.repeated[at] - left_out


def test_resets_do_what_their_previews_have_shown(
    page: Page, watch: Watch, cluster: Cluster, broker: Broker
) -> None:
    _start(cluster, broker)
    watch.allow_status(409, f"{SUPERVISORS}/{_TOPIC}/")
    with streaming(broker.bootstrap, _TOPIC, rate_per_s=40):
        effects = list(_rounds(page, cluster))
        _await_backfills(cluster)
        deleted = _delete_unread(cluster, broker)
        _open(page, {"to": "earliest"})
        effects.append(_reset(page, "deleted", cluster))
        cluster.post(_TOPIC, "resume")
    ends = ends_of(broker.bootstrap, _TOPIC)
    wait_until(lambda: cluster.status(_TOPIC)["committedOffsets"] == ends)

    ids = deleted | _ids(broker)
    for effect in effects:
        for places in (effect.skipped, effect.lost, effect.repeated):
            assert places.keys() <= ids.keys(), "the dialog counts what is no record"
    expected = Counter(
        {id_: 1 + sum(effect.moves(at) for effect in effects) for at, id_ in ids.items()}
    )
    assert ids_in_files(cluster.files(_TOPIC)) == +expected
    assert sum(effect.lost.total() for effect in effects) == _DELETED
    assert sum(effect.repeated.total() for effect in effects) > 0
    left_out = Counter(effect.kind for effect in effects if effect.skipped)
    assert left_out["latest"] == left_out["beside"] == _ROUNDS
    cluster.post(_TOPIC, "terminate")


def _start(cluster: Cluster, broker: Broker) -> None:
    """Have a supervisor read the topic, and wait until it has published."""
    create_topic(broker.bootstrap, _TOPIC, partitions=_PARTITIONS)
    produce(broker.bootstrap, _TOPIC, (record(n, "first") for n in range(200)))
    cluster.apply(spec(broker.bootstrap, _TOPIC, task_count=1, task_duration="PT5S"))
    wait_until(lambda: len(cluster.publications(_TOPIC)) > 0)


def _rounds(page: Page, cluster: Cluster) -> Iterator[_Effect]:
    """Reset by each kind of place in each round, with other places each time."""
    began = datetime.now(UTC)
    for n in range(_ROUNDS):
        at = f"{began - timedelta(seconds=n):%FT%T}Z"
        more = {
            "time": {"at": at},
            "shift": {"shift": str((-1) ** n * 30)},
            "offsets": {"offset": f"{n % _PARTITIONS}={17 + n}"},
        }
        for kind in _KINDS:
            dialog = _open(page, {"to": kind, **more.get(kind, {})})
            if kind == "json":
                dialog.get_by_label("resetOffsets of Druid").fill(_pasted(cluster, n))
            yield _reset(page, kind, cluster, overtaken=kind == _OVERTAKEN[n])


def _open(page: Page, place: Mapping[str, str]) -> Locator:
    page.goto(f"/ui/supervisors/{_TOPIC}/overview?{urlencode({'do': 'reset', **place})}")
    return _dialog(page)


def _dialog(page: Page) -> Locator:
    return page.get_by_role("dialog", name="set offsets")


def _pasted(cluster: Cluster, n: int) -> str:
    """Return offsets as they may be pasted: back in one partition, and to the end in another."""
    latest = cluster.status(_TOPIC)["latestOffsets"]
    assert isinstance(latest, dict)
    offsets = {"0": 11 + n, "1": latest["1"]}
    if n % 2:
        return json.dumps(offsets)
    end = {"type": "end", "stream": _TOPIC, "partitionOffsetMap": offsets}
    return json.dumps({"type": "kafka", "partitions": end})


def _reset(page: Page, kind: str, cluster: Cluster, *, overtaken: bool = False) -> _Effect:
    """Read the preview and confirm it, again after each refusal; return what was shown last.

    `overtaken`: ranges are published after the first look, and before the button.
    """
    dialog = _dialog(page)
    outdated = dialog.get_by_role("button", name="I have read it")
    if overtaken:
        _effect(dialog, kind)
        _await_publication(cluster)
        if _acts(page, _effect(dialog, kind)):
            pytest.fail("a preview of before a publish was good for an act after it")
        outdated.click()
    while True:
        effect = _effect(dialog, kind)
        if kind == "latest" and not effect.skipped:  # all is published by now: wait for more
            wait_until(lambda: _has_unpublished(cluster))
            page.reload()
        elif _acts(page, effect):
            return effect
        else:
            outdated.click()


def _has_unpublished(cluster: Cluster) -> bool:
    status = cluster.status(_TOPIC)
    return bool(status["latestOffsets"] != status["committedOffsets"])


def _await_publication(cluster: Cluster) -> None:
    before = len(cluster.publications(_TOPIC))
    wait_until(lambda: len(cluster.publications(_TOPIC)) > before)


def _acts(page: Page, effect: _Effect) -> bool:
    """Confirm what was read; return False if it is outdated, and nothing was done."""
    dialog = _dialog(page)
    outdated = dialog.get_by_role("button", name="I have read it")
    number = effect.skipped.total() + effect.lost.total() + effect.repeated.total()
    if number:
        dialog.get_by_label("to confirm").fill(f"{number:,}")
    try:
        dialog.get_by_role("button", name="Set offsets").click(timeout=_CLICK_MS)
    except NotYet:
        expect(outdated).to_be_visible()  # it has changed meanwhile, and cannot be confirmed
        return False
    expect(outdated.or_(page.get_by_text(f"The offsets of {_TOPIC} are set."))).to_be_visible()
    return not outdated.is_visible()


def _effect(dialog: Locator, kind: str) -> _Effect:
    """Read a preview: the offsets of each row, whose numbers add up to the sums below them."""
    table = dialog.get_by_role("region", name="What it does")
    expect(table.locator("tbody tr").first).to_be_visible()
    while True:
        places: tuple[_Places, _Places, _Places] = (Counter(), Counter(), Counter())
        for row in table.locator("tbody tr").all():
            partition, _, _, *texts = row.locator("td").all_inner_texts()
            number = int(partition.rpartition(":")[2])
            for column, text in zip(places, texts, strict=True):
                column.update((number, offset) for offset in _offsets(text))
        sums = table.locator("tfoot td").all_inner_texts()[1:]
        if [int(re.sub("[^0-9].*", "", each.replace(",", ""))) for each in sums] == [
            column.total() for column in places
        ]:
            return _Effect(kind, *places)
        # Rows of one preview over the sum of the next: only if that one is marked as new.
        expect(dialog.get_by_role("button", name="I have read it")).to_be_visible()


def _offsets(text: str) -> range:
    """Read the first offset, the last one and their number; or 0."""
    matched = _RANGE.match(text)
    if matched is None:
        assert text == "0"
        return range(0)
    first, last = (int(each.replace(",", "")) for each in matched.groups())
    return range(first, last + 1)


def _await_backfills(cluster: Cluster) -> None:
    """Wait until those that read beside have published all that they are for."""
    params = {"q": f"{_TOPIC}_backfill_"}

    def states() -> list[str]:
        answer = cluster.http.get("/api/v1/supervisors", params=params).raise_for_status()
        return [row["state"] for row in answer.json()["supervisors"]]

    wait_until(lambda: states() == ["COMPLETED"] * _ROUNDS)


def _delete_unread(cluster: Cluster, broker: Broker) -> dict[tuple[int, int], str]:
    """Delete records that nobody has read, as retention does; return what the topic had before.

    The supervisor is suspended for it: else it is chance whether a task has them by then.
    """
    cluster.post(_TOPIC, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(_TOPIC))
    committed = cluster.status(_TOPIC)["committedOffsets"]
    assert isinstance(committed, dict)
    assert isinstance(committed["0"], int)
    first = committed["0"] + _DELETED
    wait_until(lambda: ends_of(broker.bootstrap, _TOPIC)["0"] > first)
    before = _ids(broker)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    for done in admin.delete_records([TopicPartition(_TOPIC, 0, first)]).values():
        done.result(60)
    path = f"/api/v1/supervisors/{_TOPIC}/offsets"

    def earliest() -> int:
        answer = cluster.http.get(path, params={"at": "earliest"}).raise_for_status()
        return int(answer.json()["partitions"][0]["offset"])

    wait_until(lambda: earliest() == first)
    return before


def _ids(broker: Broker) -> dict[tuple[int, int], str]:
    """Return (partition, offset) -> id of what Kafka holds now, by a reader of its own."""
    ids = {}
    for at, (each, _) in read_records(broker.bootstrap, _TOPIC).items():
        assert each.value is not None
        ids[at] = str(json.loads(each.value)["id"])
    return ids
