"""What Spark writes is a Delta and an Iceberg table too, at each moment, whatever is killed.

Slow: overlord and worker die and start again while records come, and six readers look.
"""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, read_all
from tests.integration.cluster import Cluster, running
from tests.integration.data.exported import (
    READERS,
    Onlooker,
    id_of,
    locations,
    names_in,
    record,
    rows_read,
    rows_sent,
    spec_by_hour,
    spec_for_exports,
)
from tests.integration.data.test_compaction import compact_all, statuses
from tests.integration.oracle import ends_of, streaming
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TOPIC = "parcels"
HOURS = "parcels_by_hour"
BOTH = (TOPIC, HOURS)
DIES = {"TIDEGATE_FAILPOINTS": "export:committed:kill:4"}
"""The overlord, when an export is committed and its own row does not have it yet."""
GRACE = {"TIDEGATE_SEGMENT_GRACE": "PT20S"}
"""Compacted files are deleted within the test; an onlooker has this long to read a version."""


def test_exports_follow_what_spark_writes_through_kills_and_compaction(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: each version is the published list as it was after some publish, of the same files.

    Who looks all the time never sees an id twice, nor one less than before; at the end every
    reader of both formats finds the topic's rows, and on disk lie the files of the list alone.
    """
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # else it warns that it has no other
    create_topic(broker.bootstrap, TOPIC, partitions=2)
    more = DIES | GRACE
    with running(Cluster(tmp_path, more=more)) as cluster:
        more.pop("TIDEGATE_FAILPOINTS")  # who is started again, lives on
        with Onlooker(cluster, TOPIC) as onlooker:
            _publish_and_compact(cluster, broker.bootstrap)
        _roll_up(cluster, broker.bootstrap)
        wait_until(lambda: all(len(locations(cluster, table)) == 2 for table in BOTH))
        wait_until(lambda: _named(cluster) == _listed(cluster))
        wait_until(cluster.is_settled)
        # What the database names no more is deleted by an event of its own, a moment later.
        wait_until(lambda: _on_disk(cluster) == _listed(cluster))
        listed = _listed(cluster)
        places = {table: locations(cluster, table) for table in BOTH}
        publications = cluster.publications(TOPIC)
        checks = [cluster.tidegate("verify", TOPIC)]
        checks.append(cluster.tidegate("verify", "--files", "--strict"))

    values = read_all(broker.bootstrap, TOPIC)
    for ran in checks:
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert onlooker.wrong == []
    _follows(onlooker.seen, _states(values, publications))
    for table_format, location in places[TOPIC].items():
        assert names_in(table_format, location) == {f for f in listed if TOPIC in f.parts}
        for reader, read in READERS[table_format].items():
            found = rows_read(read(location).to_pylist())
            assert found == rows_sent(values), f"{reader} of {table_format}"
    _counts(places[HOURS], sum(map(len, values.values())))


def _publish_and_compact(cluster: Cluster, bootstrap: str) -> None:
    """Read while records come, die twice, compact while it goes on and once more at the end."""
    with streaming(bootstrap, TOPIC, rate_per_s=150, make=record):
        cluster.apply(spec_for_exports(bootstrap, TOPIC))
        wait_until(lambda: not cluster.children["overlord"].alive())
        cluster.children.pop("overlord")
        cluster.start_overlord()
        before = len(cluster.publications(TOPIC))
        wait_until(lambda: len(cluster.publications(TOPIC)) > before)
        cluster.kill("w1")
        cluster.start_worker("w1")
        cluster.http.post(f"/api/v1/datasources/{TOPIC}/compact", json={})
        wait_until(lambda: "SUCCESS" in statuses(cluster, TOPIC))
        before = len(cluster.publications(TOPIC))
        wait_until(lambda: len(cluster.publications(TOPIC)) > before)
    _finish(cluster, TOPIC, bootstrap)
    compact_all(cluster, TOPIC)
    wait_until(lambda: len(locations(cluster, TOPIC)) == 2)


def _roll_up(cluster: Cluster, bootstrap: str) -> None:
    cluster.apply(spec_by_hour(bootstrap, TOPIC, HOURS))
    _finish(cluster, HOURS, bootstrap)


def _finish(cluster: Cluster, table: str, bootstrap: str) -> None:
    """Have all that the topic holds published, and no more."""
    ends = ends_of(bootstrap, TOPIC)
    wait_until(lambda: cluster.has_read(table, ends))
    cluster.post(table, "suspend")
    wait_until(lambda: cluster.is_suspended_and_quiet(table))


def _listed(cluster: Cluster) -> set[Path]:
    """The files of both tables as the overlord lists them."""
    return {file for table in BOTH for file in cluster.files(table)}


def _on_disk(cluster: Cluster) -> set[Path]:
    """What lies there beside logs; no column of these tables grows, so there are no copies.

    A folder may be deleted while it is walked: `os.walk` passes over it, and `rglob` fails.
    """
    walked = os.walk(cluster.warehouse)
    folders = ((Path(folder), names) for folder, _, names in walked)
    files = {
        folder / name
        for folder, names in folders
        if {"data", "widened"} & {*folder.relative_to(cluster.warehouse).parts}
        for name in names
    }
    return {file for file in files if file.suffix in {".parquet", ".half"}}


def _named(cluster: Cluster) -> set[Path]:
    """The files that the metadata database names, those that are to be deleted included."""
    files = cluster.inventory()["files"]
    assert isinstance(files, list)
    return {cluster.warehouse / str(file["path"]) for file in files if isinstance(file, dict)}


def _states(
    values: Mapping[int, list[bytes]], publications: list[dict[str, JsonValue]]
) -> list[Counter[str]]:
    """Return the ids that the table had after each publish, in their order."""
    ids = {partition: [id_of(value) for value in states] for partition, states in values.items()}
    ends: dict[int, int] = {}
    states = []
    for publication in publications:
        end = publication["end"]
        assert isinstance(end, dict)
        ends |= {int(name.rpartition(":")[2]): int(str(offset)) for name, offset in end.items()}
        states.append(Counter(id_ for p, each in ids.items() for id_ in each[: ends.get(p, 0)]))
    return states


def _follows(seen: Mapping[str, Mapping[int, Counter[str]]], states: list[Counter[str]]) -> None:
    """Demand that an onlooker saw states of the table, in their order, up to the last."""
    for table_format, versions in seen.items():
        met = [ids for _, ids in sorted(versions.items())]
        unknown = [version for version, ids in versions.items() if ids not in states]
        assert unknown == [], f"{table_format}: of {len(states)} states"
        order = [states.index(ids) for ids in met]
        assert order == sorted(order), table_format
        assert len(set(order)) >= 3, f"{table_format}: {order}, it was looked at too seldom"
        assert met[-1] == states[-1], table_format


def _counts(places: Mapping[str, str], records: int) -> None:
    """Demand that each reader finds all records in the rows, and a sketch in each row."""
    for table_format, location in places.items():
        for reader, read in READERS[table_format].items():
            rows = read(location).to_pylist()
            assert sum(row["records"] for row in rows) == records, f"{reader} of {table_format}"
            assert all(isinstance(row["ids"], bytes) and row["ids"] for row in rows), reader
            assert len(rows) < records // 2, "it is rolled up"
