"""What `tidegate flow init` prints, in a running cluster: each sample, from `apply` to its end.

Slow: four flows run one after the other, over rows that a worker without a JVM reads and publishes.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import cast

import pyarrow.parquet
import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import Record, create_topic, produce
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import ends_of, ids_in_files, record, spec
from tests.supervisor.adapters.executions.sink import Sink, a_sink
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.process, pytest.mark.long]

Json = dict[str, JsonValue]
RECORDS = 400
_SINK = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An overlord with the `sql` engine and a worker: real offsets, files, publishes and steps."""
    often = {"TIDEGATE_SUPERVISOR_PERIOD": "PT1S"}
    folder = tmp_path_factory.mktemp("samples")
    with running(Cluster(folder, more=often, light=True, slots=12)) as started:
        yield started


@dataclass(frozen=True)
class _Sample:
    """A sample as a user changes it: the name of the table, and the address of the server."""

    cluster: Cluster
    flow: str

    def run(self, **inputs: JsonValue) -> str:
        """Start it by the command, and return the execution's id."""
        given = [f"--input={name}={_typed(value)}" for name, value in inputs.items()]
        started = self.cluster.tidegate("execution", "run", self.flow, *given, "-o", "name")
        assert started.returncode == 0, started.stdout + started.stderr
        return started.stdout.strip()

    def fire(self, trigger: str) -> str:
        """Let a trigger fire now, and return the execution's id."""
        path = f"/api/v1/flows/{self.flow}/triggers/{trigger}/fire"
        return str(self.cluster.http.post(path).raise_for_status().json()["execution"])

    def look(self, execution: str) -> Json:
        """Return an execution as it is now."""
        answer = self.cluster.http.get(f"/api/v1/executions/{execution}").raise_for_status()
        return cast("Json", answer.json())

    def ended(self, execution: str) -> Json:
        """Return an execution once it has ended."""
        wait_until(lambda: self.look(execution)["endedAt"] is not None)
        return self.look(execution)

    def waits(self, execution: str) -> str:
        """Return the question that an execution asks, once it does."""
        seen: list[Json] = []

        def asks() -> bool:
            seen[:] = cast("list[Json]", self.look(execution)["waitsFor"])
            return bool(seen) and seen[0]["kind"] == "answer"

        wait_until(asks)
        return str(seen[0]["what"])


def _typed(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _applied(cluster: Cluster, name: str, table: str, folder: Path, sink: Sink) -> _Sample:
    """Print a sample, change its names, apply it."""
    printed = cluster.tidegate("flow", "init", name)
    assert printed.returncode == 0, printed.stderr
    file = folder / "flow.yaml"
    assert table.isidentifier()
    file.write_text(printed.stdout.replace("orders", table).replace(_SINK, sink.url("")))
    applied = cluster.tidegate("flow", "apply", str(file), "-o", "name")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    return _Sample(cluster, applied.stdout.strip())


def _spec(bootstrap: str, table: str, **io: JsonValue) -> Json:
    """A spec of what the worker writes: ids."""
    wanted = spec(bootstrap, table, task_count=1, task_duration="PT2S")
    inner = cast("dict[str, Json]", wanted["spec"])
    inner["dataSchema"]["dimensionsSpec"] = {"dimensions": ["id"]}
    inner["ioConfig"] |= io
    return wanted


def _publish(cluster: Cluster, bootstrap: str, table: str, number: int) -> None:
    """Send records, and wait until the ledger has them all."""
    produce(bootstrap, table, (record(n, f"p{number}") for n in range(RECORDS)))
    _await_published(cluster, bootstrap, table)


def _await_published(cluster: Cluster, bootstrap: str, table: str) -> None:
    ends = ends_of(bootstrap, table)

    def published() -> bool:
        committed = cluster.ledger(table)["committed"]
        rows = cast("list[Json]", committed)
        return {str(row["partition"]): row["nextOffset"] for row in rows} == ends

    wait_until(published)


def _ids(*prefixes: str) -> set[str]:
    return {json.loads(record(n, prefix))["id"] for prefix in prefixes for n in range(RECORDS)}


def test_a_night_joins_files_proves_them_and_tells_of_a_lost_row(
    broker: Broker, site: Cluster, tmp_path: Path
) -> None:
    table = "nights"
    create_topic(broker.bootstrap, table, partitions=2)
    site.apply(_spec(broker.bootstrap, table))
    for number in range(3):
        _publish(site, broker.bootstrap, table, number)
    before = site.files(table)
    with a_sink() as sink:
        sample = _applied(site, "nightly", table, tmp_path, sink)

        proven = sample.ended(sample.fire("nightly"))
        [file] = site.files(table)
        with _without_a_row(file):
            failed = sample.ended(sample.run())

    assert proven["state"] == "SUCCESS", proven
    assert proven["outputs"] == {"files": len(before), "lost": 0, "duplicated": 0}
    assert len(before) > 1
    assert ids_in_files([file]).keys() == _ids("p0", "p1", "p2")
    assert failed["state"] == "FAILED"
    [heard] = sink.ledger
    assert (heard.method, heard.path) == ("POST", "/alerts")
    assert "1 lost, 0 duplicated" in json.loads(heard.body)["text"]
    site.post(table, "terminate")


@contextmanager
def _without_a_row(file: Path) -> Iterator[None]:
    whole = file.read_bytes()
    rows = pyarrow.parquet.read_table(file, partitioning=None)
    pyarrow.parquet.write_table(rows.slice(0, len(rows) - 1), file)
    yield
    file.write_bytes(whole)


def test_a_server_hears_of_each_publish(broker: Broker, site: Cluster, tmp_path: Path) -> None:
    """Goal: by the publish itself, once for each one that has rows, with its rows and its time."""
    table = "alerts"
    create_topic(broker.bootstrap, table, partitions=2)
    site.apply(_spec(broker.bootstrap, table))
    with a_sink() as sink:
        sample = _applied(site, "alert", table, tmp_path, sink)
        _publish(site, broker.bootstrap, table, 0)
        wait_until(lambda: sum(_rows(sink)) >= RECORDS)
        by_hand = sample.ended(sample.run(rows=0, at="2026-11-25T04:00:00Z"))

    published = [cast("int", each["rows"]) for each in site.publications(table)]
    assert sorted(_rows(sink)) == sorted(rows for rows in published if rows)
    assert {(one.method, one.path) for one in sink.ledger} == {("POST", f"/{table}")}
    assert all(datetime.fromisoformat(json.loads(one.body)["at"]).tzinfo for one in sink.ledger)
    assert by_hand["state"] == "SUCCESS"
    assert [run["state"] for run in cast("list[Json]", by_hand["runs"])] == ["SKIPPED"]
    site.post(table, "terminate")


def _rows(sink: Sink) -> list[int]:
    return [json.loads(one.body)["rows"] for one in sink.ledger]


def test_days_that_the_table_does_not_have_are_read(
    broker: Broker, site: Cluster, tmp_path: Path
) -> None:
    """Goal: each day by a bounded supervisor of its own, each record once; then they are joined."""
    table = "days"
    create_topic(broker.bootstrap, table, partitions=2)
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=ago) for ago in (3, 2)]
    for number, day in enumerate(days):
        noon = int(datetime.combine(day, time(12), UTC).timestamp() * 1_000)
        values = (record(n, f"d{number}").encode() for n in range(RECORDS))
        records = [Record(value, timestamp_ms=noon) for value in values]
        produce(broker.bootstrap, table, records)
    site.apply(_spec(broker.bootstrap, table, useEarliestOffset=False))
    wait_until(lambda: site.has_read(table, ends_of(broker.bootstrap, table)))
    _publish(site, broker.bootstrap, table, 0)
    assert ids_in_files(site.files(table)).keys() == _ids("p0")

    with a_sink() as sink:
        sample = _applied(site, "backfill", table, tmp_path, sink)
        ended = sample.ended(sample.run(days=[str(day) for day in days]))

    assert ended["state"] == "SUCCESS", ended
    ids = ids_in_files(site.files(table))
    assert ids.keys() == _ids("p0", "d0", "d1")
    assert set(ids.values()) == {1}
    runs = [run for run in cast("list[Json]", ended["runs"]) if run["step"] == "read"]
    read = [cast("Json", run["outputs"])["offsets"] for run in runs]
    assert read == [RECORDS, RECORDS]
    site.post(table, "terminate")


def test_supervisors_get_their_specs_after_a_yes(
    broker: Broker, site: Cluster, tmp_path: Path
) -> None:
    tables = ["moved_a", "moved_b", "moved_c"]
    for table in tables:
        create_topic(broker.bootstrap, table, partitions=2)
        site.apply(_spec(broker.bootstrap, table))
    wanted: JsonValue = [_spec(broker.bootstrap, each, taskDuration="PT7S") for each in tables]
    with a_sink() as sink:
        sample = _applied(site, "migration", "unused", tmp_path, sink)
        execution = sample.run(specs=wanted)

        question = sample.waits(execution)
        before = [_duration(site, table) for table in tables]
        command = ("execution", "approve", execution, "--reason", "reviewed by ann")
        approved = site.tidegate(*command)
        ended = sample.ended(execution)

    assert question.startswith("Apply 3 specs?")
    assert before == ["PT2S"] * len(tables), "nothing is changed before the answer"
    assert approved.returncode == 0, approved.stderr
    assert ended["state"] == "SUCCESS", ended
    assert [_duration(site, table) for table in tables] == ["PT7S"] * len(tables)
    foreseen = [run for run in cast("list[Json]", ended["runs"]) if run["step"] == "foresee"]
    assert len(foreseen) == len(tables)
    assert all(run["outputs"] for run in foreseen), "what each would change is shown"
    for table in tables:
        assert site.status(table)["state"] == "RUNNING"
        site.post(table, "terminate")


def _duration(cluster: Cluster, table: str) -> JsonValue:
    answer = cluster.http.get(f"/druid/indexer/v1/supervisor/{table}").raise_for_status()
    return cast("JsonValue", answer.json()["spec"]["ioConfig"]["taskDuration"])
