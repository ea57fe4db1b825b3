"""`supervisor init`: what it sends to the sampler, prints, and answers by its exit code."""

import json
from pathlib import Path
from typing import cast

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

SAMPLER = "/druid/indexer/v1/sampler"
OPTIONS = ("--kafka", "kafka:9092", "--topic", "orders.v1")


def sampled(*records: object) -> Reply:
    rows = [
        {"topic": "orders.v1", "partition": n % 3, "offset": n, "input": record, "parsed": {}}
        for n, record in enumerate(records)
    ]
    dimensions = [{"type": "long", "name": "n"}, {"type": "double", "name": "price"}]
    return Reply(
        {
            "numRowsRead": len(rows),
            "numRowsIndexed": len(rows),
            "logicalDimensions": dimensions,
            "physicalDimensions": dimensions,
            "logicalSegmentSchema": [],
            "data": rows,
        }
    )


ORDER = {"at": "2026-11-21T00:00:00Z", "price": 1.5, "n": 1}


def test_a_sample_becomes_a_spec(tidegate: Tidegate, server: Overlord) -> None:
    server.on("POST", SAMPLER, sampled(*[ORDER] * 27))

    ended = tidegate("supervisor", "init", *OPTIONS, "--records", "27", "--data-source", "orders")

    spec = cast("dict[str, dict[str, dict[str, object]]]", ended.json())["spec"]
    assert ended.code == 0, ended.err
    assert spec["dataSchema"]["dataSource"] == "orders"
    assert spec["dataSchema"]["timestampSpec"] == {"column": "at", "format": "iso"}
    assert spec["dataSchema"]["dimensionsSpec"] == {
        "dimensions": [{"type": "double", "name": "price"}, {"type": "long", "name": "n"}]
    }
    assert spec["ioConfig"]["topic"] == "orders.v1"
    assert "27 records of 3 partitions; the time is at (iso), with 2 columns" in ended.err
    [request] = server.requests
    sent = json.loads(request.body)
    assert sent["samplerConfig"] == {"numRows": 27, "timeoutMs": 20_000}
    assert sent["spec"]["dataSchema"]["dataSource"] == "orders"


def test_the_spec_is_written_to_a_file_and_never_over_one(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", SAMPLER, sampled({"ts": 1_795_000_000_000}))

    assert tidegate("supervisor", "init", *OPTIONS, "-f", "spec.json").code == 0
    before = (tmp_path / "spec.json").read_text()
    assert '"format": "millis"' in before

    again = tidegate("supervisor", "init", *OPTIONS, "-f", "spec.json")
    assert (again.code, "there already" in again.err) == (1, True)
    assert (tmp_path / "spec.json").read_text() == before
    assert len(server.requests) == 1


def test_an_empty_topic_and_one_without_a_time_make_no_spec(
    tidegate: Tidegate, server: Overlord
) -> None:
    server.on("POST", SAMPLER, sampled(), sampled({"n": 1}))

    empty = tidegate("supervisor", "init", *OPTIONS)
    timeless = tidegate("supervisor", "init", *OPTIONS)

    assert (empty.code, "the topic orders.v1 has no record" in empty.err) == (1, True)
    assert (timeless.code, "--timestamp" in timeless.err) == (1, True)


def test_the_reason_of_the_overlord_is_passed_on(tidegate: Tidegate, server: Overlord) -> None:
    why = "the topic orders.v1 does not exist: create one, or correct ioConfig.topic"
    server.refuse("POST", SAMPLER, 400, detail=why)

    ended = tidegate("supervisor", "init", *OPTIONS)

    assert (ended.code, ended.out) == (1, "")
    assert why in ended.err
