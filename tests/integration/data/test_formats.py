"""Each format through a real broker: rows exact, broken records kept, over a handoff and a kill.

Beside them a table that is rolled up; and a registry of schemas that is away for a while.

Slow: a dozen formats are read by one worker with Spark, over a handoff and a kill.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce, read_records
from tests.environment.registries import FakeRegistry, fake_registry
from tests.integration.cluster import SUPERVISORS, Cluster, running
from tests.integration.data.formats import Format, Row, formats, is_bad
from tests.integration.data.rolled_up import ROLLED_UP, SCHEMA, totals_in, totals_of
from tests.integration.journals import Struck, journal_in, journal_path, kill_at_work, stop_worker
from tests.integration.oracle import ends_of
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
RECORDS = int(os.environ.get("TIDEGATE_TEST_RECORDS", "4000"))
"""Of each format; by hand 100,000."""
PART = RECORDS // 4
WITHIN_S = HANGS_AFTER_S + RECORDS / 100
PATIENT = {"TIDEGATE_WORKER_TIMEOUT": "PT3M"}
"""Else the tasks of a worker that starts slowly are replaced, rightly: these go on."""
SAMPLES, SAMPLE_CHARS = 8, 500
_PLAIN: dict[str, JsonValue] = {
    "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
}


def spec_of(bootstrap: str, each: Format) -> dict[str, JsonValue]:
    """A spec that reads one format."""
    numbers: list[JsonValue] = [
        {"type": "long", "name": "amount"},
        {"type": "double", "name": "price"},
    ]
    beside: list[JsonValue] = [
        {"type": "long" if name.endswith("timestamp") else "string", "name": name}
        for name in each.beside
    ]
    plain = _PLAIN | {"dimensionsSpec": {"dimensions": ["id", "user", *numbers, *beside]}}
    own = SCHEMA if each is ROLLED_UP else plain
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": each.name,
                "timestampSpec": {"column": "time", "format": "iso"},
                **own,
            },
            "ioConfig": {
                "topic": each.name,
                "inputFormat": dict(each.input_format),
                "consumerProperties": {"bootstrap.servers": bootstrap},
                "taskCount": 1,
                "taskDuration": "PT1H",
                "useEarliestOffset": True,
            },
            "tuningConfig": {
                "type": "kafka",
                "batchRowsMin": PART,
                "batchRowsMax": PART,
                "maxSavedParseExceptions": SAMPLES,
                "unfitValues": "quarantine",
            },
        },
    }


@dataclass(frozen=True)
class Story:
    """What is done to all of them, a step after the other."""

    broker: Broker
    cluster: Cluster
    registry: FakeRegistry
    all: Sequence[Format]

    @property
    def by_registry(self) -> list[Format]:
        """Those whose schemas lie in the registry."""
        return [each for each in self.all if each.name.endswith("by-registry")]

    def begin(self) -> None:
        """Make topics with a part of the records, and what reads them."""
        for each in self.all:
            create_topic(self.broker.bootstrap, each.name, partitions=2)
        self.send(range(PART))
        for each in self.all:
            self.cluster.apply(spec_of(self.broker.bootstrap, each))
        self.await_read(self.all)

    def send(self, numbers: range) -> None:
        """Send these records of each format."""
        for each in self.all:
            produce(self.broker.bootstrap, each.name, (each.record(n) for n in numbers))

    def ends(self, of: Sequence[Format]) -> dict[str, dict[str, int]]:
        """Where their topics end now."""
        return {each.name: ends_of(self.broker.bootstrap, each.name) for each in of}

    def await_read(self, of: Sequence[Format]) -> None:
        """Wait until every task has journaled what its topic holds."""
        ends = self.ends(of)
        await_each(of, lambda each: self.cluster.has_read(each.name, ends[each.name]))

    def hand_off(self) -> None:
        """Hand every range off, and wait until each is published."""
        for each in self.all:
            path = f"{SUPERVISORS}/{each.name}/taskGroups/handoff"
            answer = self.cluster.http.post(path, json={"taskGroupIds": [0]})
            assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        await_each(self.all, lambda each: len(self.cluster.publications(each.name)) == 1)

    def kill(self) -> dict[str, Struck]:
        """Kill -9 the worker in the midst of batches, with more to read for every task."""
        self.send(range(PART, 2 * PART))
        self.await_read(self.all)
        stop_worker(self.cluster)
        self.send(range(2 * PART, RECORDS))
        return kill_at_work(self.cluster, self.ends(self.all), WITHIN_S)

    def go_on_without_registry(self, struck: dict[str, Struck]) -> None:
        """Start the worker, which knows no schema, while the registry is away, and then is back."""
        self.registry.fault = (503, b"")
        self.cluster.start_worker("w1")
        away = "SCHEMA_REGISTRY_UNAVAILABLE"
        await_each(self.by_registry, lambda each: self.state(each) == away)
        for each in self.by_registry:
            assert "503" in str(self.cluster.status(each.name)["why"])
            assert self.cluster.http.get(f"{SUPERVISORS}/{each.name}/health").status_code == 503
        self.await_read([each for each in self.all if each not in self.by_registry])
        for each in self.by_registry:
            assert self.state(each) == away
            assert journal_in(journal_path(self.cluster, each.name)) == struck[each.name].journal
        self.registry.fault = None
        self.await_read(self.by_registry)
        await_each(self.by_registry, lambda each: self.state(each) == "RUNNING")

    def state(self, each: Format) -> str:
        """The word for what it does."""
        return str(self.cluster.status(each.name)["detailedState"])

    def end(self) -> None:
        """Let everything be published."""
        for each in self.all:
            self.cluster.post(each.name, "suspend")
        await_each(self.all, lambda each: self.cluster.is_suspended_and_quiet(each.name))


def await_each(of: Iterable[Format], holds: Callable[[Format], bool]) -> None:
    """Wait until it holds of each, one after the other."""
    for each in of:
        await_one(each, holds)


def await_one(each: Format, holds: Callable[[Format], bool]) -> None:
    """Wait until it holds of this one."""
    wait_until(lambda: holds(each), WITHIN_S)


@pytest.mark.timeout(3_600)
def test_each_format_gives_its_rows_and_keeps_what_is_broken(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: one of a hundred records is broken; a handoff, and a kill -9 in mid-batch.

    The worker that comes back finds the registry of schemas silent: tasks that need it wait, the
    others read on.
    """
    with fake_registry() as registry:
        every = (*formats(registry), ROLLED_UP)
        with running(Cluster(tmp_path, slots=len(every), more=PATIENT)) as cluster:
            story = Story(broker, cluster, registry, every)
            story.begin()
            story.hand_off()
            struck = story.kill()
            check_struck(every, struck)
            story.go_on_without_registry(struck)
            story.end()
            for each in every:
                check_errors(cluster, broker, each)
                check_ledger(cluster, each)
                if each is ROLLED_UP:
                    check_totals(cluster)
                else:
                    check_rows(cluster, broker, each)
    for name, at_kill in struck.items():  # for the page of results; -rP shows it
        unfinished = len(at_kill.unfinished)
        print(f"| {name} | {RECORDS} | {at_kill.unread} | {unfinished} |")  # noqa: T201 -- as said


# -- what is compared --------------------------------------------------------------------------

Place = tuple[int, int]
"""Partition and offset."""


def check_struck(every: Sequence[Format], struck: dict[str, Struck]) -> None:
    """Compare what the kill struck with what it is to strike."""
    for each in every:
        at_kill = struck[each.name]
        assert at_kill.journal.batches, f"{each.name} had gone on since the handoff"
        assert at_kill.unread > 0, f"{each.name} had more to read"
    assert any(at_kill.unfinished for at_kill in struck.values()), "one was in a batch"


def places_of(broker: Broker, each: Format) -> dict[Place, tuple[int, int]]:
    """Return where each record lies -> its number, and its time there; as another reader finds."""
    numbers = {each.record(n): n for n in range(RECORDS)}
    assert len(numbers) == RECORDS, "records differ"
    held = read_records(broker.bootstrap, each.name)
    assert Counter(record for record, _ in held.values()) == Counter(numbers.keys())
    return {place: (numbers[record], at_ms) for place, (record, at_ms) in held.items()}


def check_rows(cluster: Cluster, broker: Broker, each: Format) -> None:
    """Compare a table with what the topic holds, row by row, each in its place."""
    names = ["__partition", "__offset", "id", "__time", "user", "amount", "price", *each.beside]
    rows: Counter[Row] = Counter()
    for columns in _columns(cluster.files(each.name), names):
        partition, offset, name, at, *rest = columns
        rows.update(zip(partition, offset, name, map(_utc, at), *rest, strict=True))
    assert rows == Counter(
        (*place, *each.row(number, at_ms))
        for place, (number, at_ms) in places_of(broker, each).items()
        if not is_bad(number)
    ), each.name


def check_errors(cluster: Cluster, broker: Broker, each: Format) -> None:
    """Compare what is quarantined, and the samples, with the bytes that were sent."""
    places = places_of(broker, each)
    bad = {place: number for place, (number, _) in places.items() if is_bad(number)}
    assert len(bad) == sum(is_bad(n) for n in range(RECORDS)) == RECORDS // 100
    names = ["partition", "offset", "__time", "reason", "key", "value", "headers"]
    errors: Counter[Row] = Counter()
    for columns in _columns(cluster.files(f"{each.name}__errors"), names):
        partition, offset, at, *rest, headers = columns
        errors.update(
            zip(partition, offset, map(_utc, at), *rest, map(_pairs, headers), strict=True)
        )
    expected: Counter[Row] = Counter()
    for place, number in bad.items():
        sent, kept_at = each.record(number), datetime.fromtimestamp(places[place][1] / 1000, UTC)
        kept = (each.broken(number).reason, sent.key, sent.value, sent.headers)
        expected[*place, kept_at, *kept] += 1
    assert errors == expected, each.name
    check_samples(cluster, each, bad)


def check_samples(cluster: Cluster, each: Format, bad: dict[Place, int]) -> None:
    """Compare what people are shown with the bytes that were sent."""

    samples = cluster.http.get(f"{SUPERVISORS}/{each.name}/parseErrors").json()
    shown = {(s["topic"], s["partition"], s["offset"]): s for s in samples}
    assert len(shown) == len(samples) == SAMPLES, "as many as maxSavedParseExceptions allows"
    for (topic, partition, offset), sample in shown.items():
        broken = each.broken(bad[partition, offset])
        sampled = (topic, sample["details"][0], sample["input"])
        assert sampled == (each.name, broken.reason, broken.shown[:SAMPLE_CHARS])


def check_ledger(cluster: Cluster, each: Format) -> None:
    """Compare the numbers that are published, and what `verify` says of them."""
    bad = RECORDS // 100
    publications = cluster.publications(each.name)
    assert len(publications) == 2, "the one before the kill, and the one after it"
    assert sum(int(str(p["rejected"])) for p in publications) == bad
    assert {task["status"] for task in cluster.tasks(each.name)} == {"SUCCESS"}, "none was replaced"
    verified = cluster.tidegate("verify", each.name)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert f"{bad} rejected and explained, {bad} of them quarantined" in verified.stdout
    counted = f"{RECORDS - bad} counted only, because their rows are rolled up"
    assert ("proven" in verified.stdout) is (each is not ROLLED_UP), verified.stdout
    assert (counted in verified.stdout) is (each is ROLLED_UP), verified.stdout


def check_totals(cluster: Cluster) -> None:
    """Compare the totals of rolled-up rows with those of the records."""
    found, rows = totals_in(cluster.files(ROLLED_UP.name))
    wanted = totals_of(RECORDS)
    assert {key: total.numbers() for key, total in found.items()} == {
        key: total.numbers() for key, total in wanted.items()
    }
    assert rows <= 2 * len(wanted), "a range has one row of an hour and a shop"


def _columns(files: Iterable[Path], names: list[str]) -> Iterable[list[list[object]]]:
    for file in files:
        columns = pq.read_table(file, columns=names, partitioning=None).columns
        yield [column.to_pylist() for column in columns]


def _utc(at: object) -> datetime:
    assert isinstance(at, datetime)
    return at.replace(tzinfo=UTC)


def _pairs(headers: object) -> tuple[tuple[object, object], ...]:
    assert headers is None or isinstance(headers, list)
    return tuple((held["key"], held["value"]) for held in headers or ())
