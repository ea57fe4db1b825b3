"""Records that a spec could not read: kept, sent again, read by a corrected spec, each once.

Slow: a worker with Spark is killed and started again between two replays.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce, read_all
from tests.integration.cluster import Cluster, running
from tests.integration.oracle import bad_in_files, ends_of, ids_in_files, record, spec
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

TOPIC, AGAIN, PARTITIONS = "sent-once", "sent-again", 2
RECORDS, OTHER_EVERY, NO_JSON_EVERY = 3_000, 3, 250
OTHER_PATTERN = "dd/MM/yyyy HH:mm"
_NO_JSON = b"broken"

Place = tuple[int, int, bytes]


def test_what_a_spec_could_not_read_is_read_once_by_a_corrected_one(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: over two replays, and a kill -9 while the second supervisor reads.

    Every third record writes its time in another way than the spec says; what is no JSON at all
    stays in quarantine.  Source: docs/how-to/bad-records.md, "Repair".
    """
    for topic in (TOPIC, AGAIN):
        create_topic(broker.bootstrap, topic, partitions=PARTITIONS)
    produce(broker.bootstrap, TOPIC, (sent(n) for n in range(RECORDS)))
    with running(Cluster(tmp_path)) as cluster:
        cluster.apply(spec(broker.bootstrap, TOPIC, task_count=1, task_duration="PT1H"))
        ends = ends_of(broker.bootstrap, TOPIC)
        wait_until(lambda: cluster.has_read(TOPIC, ends))
        cluster.post(TOPIC, "suspend")
        wait_until(lambda: cluster.is_suspended_and_quiet(TOPIC))
        first_ids = ids_in_files(cluster.files(TOPIC))
        first_errors = bad_in_files(cluster.files(f"{TOPIC}__errors"))

        once, twice = replayed(cluster), replayed(cluster)
        cluster.apply(corrected(broker.bootstrap, once["endSequenceNumbers"]))
        wait_until(lambda: len(cluster.publications(AGAIN)) >= 1)
        before = cluster.status(AGAIN)
        cluster.kill("w1")
        cluster.start_worker("w1")
        wait_until(lambda: cluster.status(AGAIN)["state"] == "COMPLETED")
        verified = [cluster.tidegate("verify", name) for name in (TOPIC, AGAIN)]
        ids = ids_in_files(cluster.files(TOPIC))
        errors = bad_in_files(cluster.files(f"{TOPIC}__errors"))

    bad = {place: fits(place[2]) for place in unread(broker.bootstrap)}
    number = sum(bad.values())
    assert first_errors == Counter(bad.keys())
    assert first_ids == ids_of(broker.bootstrap, other=False)
    assert (once["sent"], once["there"], once["more"]) == (number, 0, False)
    assert twice == {**once, "sent": 0, "there": number, "endSequenceNumbers": ends_now(broker)}
    assert before["state"] == "RUNNING", "it was killed while it read"
    assert ids == ids_of(broker.bootstrap, other=False) + ids_of(broker.bootstrap, other=True)
    assert set(ids.values()) == {1}
    assert errors == first_errors
    for answer in verified:
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert "proven" in answer.stdout


def sent(number: int) -> bytes | str:
    """A record of the first topic."""
    if number % NO_JSON_EVERY == 0:
        return b"%s %d" % (_NO_JSON, number)
    plain = record(number)
    if number % OTHER_EVERY:
        return plain
    value = json.loads(plain)
    return json.dumps(value | {"time": f"{1 + number % 2:02d}/01/2026 {number % 24:02d}:00"})


def fits(value: bytes) -> bool:
    """Tell whether a corrected spec can read a record."""
    return not value.startswith(_NO_JSON)


def unread(bootstrap: str) -> Iterator[Place]:
    """Yield what the first spec cannot read, as another reader finds it."""
    for partition, values in read_all(bootstrap, TOPIC).items():
        for offset, value in enumerate(values):  # no transaction: no offset is left out
            if not fits(value) or "/" in json.loads(value)["time"]:
                yield partition, offset, value


def ids_of(bootstrap: str, *, other: bool) -> Counter[str]:
    """Return the ids of the records that write their time the other way, or of the rest."""
    values = (value for found in read_all(bootstrap, TOPIC).values() for value in found)
    whole = [json.loads(value) for value in values if fits(value)]
    return Counter(value["id"] for value in whole if ("/" in value["time"]) is other)


def ends_now(broker: Broker) -> dict[str, int]:
    """Return where the second topic ends."""
    return ends_of(broker.bootstrap, AGAIN)


def replayed(cluster: Cluster) -> dict[str, JsonValue]:
    """Send what is in quarantine for its time to the second topic."""
    options = ("--reason", "bad-timestamp", "--yes", "-o", "json")
    answer = cluster.tidegate("quarantine", "replay", TOPIC, "--topic", AGAIN, *options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    replay: dict[str, JsonValue] = json.loads(answer.stdout)
    return replay


def corrected(bootstrap: str, ends: JsonValue) -> dict[str, JsonValue]:
    """Return the spec of the second topic: into the same table, and read once."""
    wanted = spec(bootstrap, AGAIN, task_count=1, task_duration="PT1H")
    inner = wanted["spec"]
    assert isinstance(inner, dict)
    schema, source = inner["dataSchema"], inner["ioConfig"]
    assert isinstance(schema, dict)
    assert isinstance(source, dict)
    assert isinstance(ends, dict)
    bounds: JsonValue = {
        "startSequenceNumbers": dict.fromkeys(ends, 0),
        "endSequenceNumbers": ends,
    }
    time: JsonValue = {"column": "time", "format": OTHER_PATTERN}
    return {
        "type": "kafka",
        "id": AGAIN,
        "spec": {
            "dataSchema": schema | {"dataSource": TOPIC, "timestampSpec": time},
            "ioConfig": source | {"boundedStreamConfig": bounds},
            "tuningConfig": {
                "type": "kafka",
                "maxTotalRows": 250,
                "batchRowsMax": 100,
                "batchRowsMin": 50,
            },
        },
    }
