"""A replay of bad records by overlords that are killed: before its commit, and behind it.

Slow: three overlords start one after the other.
"""

from collections import Counter
from pathlib import Path

import pytest

from supervisor.core.model.rows import GenerationState, Segment
from supervisor.core.values.table_names import errors_table
from supervisor.dev.broker import Broker
from supervisor.metadata.store import SqlStore
from tasks.contract.messages import OffsetSpan
from tests.conformance.stories import LEASE_TTL, NOON, attempt, opening, publication, segment
from tests.environment.brokers import create_topic
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.supervisor.adapters.kafka.errors_files import errors_file, in_topic
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.kafka, pytest.mark.long]

ID, AGAIN = "replay-killed", "replay-killed-again"
PATH = f"/api/v1/supervisors/{ID}/quarantine"
RECORDS, MOST = 900, 700
QUICK = {"TIDEGATE_LEASE_TTL": "PT3S"}


def test_each_record_is_sent_once_over_two_kills(broker: Broker, tmp_path: Path) -> None:
    """Goal: what a dead leader has sent counts if Kafka has it, and is not sent again.

    The first leader dies with half of the records in an open transaction, the second one between
    Kafka's commit and that of the metadata database.  The oracle is the multiset of the origins.
    """
    create_topic(broker.bootstrap, AGAIN, partitions=1)
    with Overlords(tmp_path, f"sqlite:///{tmp_path}/metadata.db", QUICK) as overlords:
        first = led(overlords, TIDEGATE_FAILPOINTS=f"replay:sending:kill:{MOST // 2}")
        keep_bad_records(overlords, first, broker)
        preview = first.http.post(f"{PATH}/replay?dryRun=true", json=wanted()).json()
        assert preview["sent"]["there"] == 0
        assert (preview["sent"]["matching"], preview["sent"]["sends"]) == (RECORDS, MOST)
        began = first.http.post(f"{PATH}/replay?expect={preview['digest']}", json=wanted())
        operation = began.raise_for_status().json()["id"]
        wait_until(lambda: not first.child.alive())
        assert in_topic(broker, AGAIN) == []

        second = led(overlords, TIDEGATE_FAILPOINTS="replay:sent:kill")
        wait_until(lambda: not second.child.alive())
        third = led(overlords)
        wait_until(lambda: state(third, operation) != "running")
        once = third.http.get(f"/api/v1/operations/{operation}").json()
        again = third.http.post(f"{PATH}/replay", json=wanted()).json()["id"]
        wait_until(lambda: state(third, again) != "running")
        rest = third.http.get(f"/api/v1/operations/{again}").json()

    sent, left = once["replay"], rest["replay"]
    assert (once["state"], sent["sent"], sent["there"], sent["more"]) == ("done", MOST, 0, True)
    assert (left["sent"], left["there"], left["more"]) == (RECORDS - MOST, MOST, False)
    origins = Counter(
        value
        for (_, _, headers), _ in in_topic(broker, AGAIN)
        for name, value in headers
        if name == "tidegate-origin"
    )
    assert origins == Counter({b"origin:3:%d" % n: 1 for n in range(RECORDS)})


def wanted() -> dict[str, object]:
    """The replay that is asked for, each time the same."""
    return {"topic": AGAIN, "reason": "not-json", "most": MOST}


def led(overlords: Overlords, **own: str) -> Overlord:
    """Start an overlord, and wait until it leads."""
    overlord = overlords.start(**own)
    wait_until(overlord.leads)
    return overlord


def state(overlord: Overlord, operation: str) -> object:
    """Return how far an operation is."""
    return overlord.http.get(f"/api/v1/operations/{operation}").raise_for_status().json()["state"]


def keep_bad_records(overlords: Overlords, leader: Overlord, broker: Broker) -> None:
    """Have a suspended supervisor whose one range has published bad records alone."""
    document = spec(broker.bootstrap, ID, task_count=1)
    leader.http.post(SUPERVISORS, json=document | {"suspended": True}).raise_for_status()
    path = f"{ID}/data/task-1/errors-0.parquet"
    file_path = overlords.folder / "warehouse" / path
    file_path.parent.mkdir(parents=True)
    errors_file(file_path, range(RECORDS))
    span = OffsetSpan(topic="origin", partition=3, first=0, last=RECORDS - 1, rows=RECORDS)
    file = segment(path, NOON).file.model_copy(update={"spans": (span,), "rows": RECORDS})
    row = Segment("task-1/error-0", errors_table(ID), ID, "g-1", "task-1", NOON, file)
    store = SqlStore(overlords.metadata_url, lease_ttl=LEASE_TTL, pool_size=1)
    with store.leading(overlords.term()) as tx:
        tx.generations.open(ID, ID, opening("g-1", 1, {}), NOON)
        tx.tasks.start(attempt("task-1", "g-1"))
        tx.generations.close("g-1", GenerationState.PUBLISHED, NOON)
        tx.segments.add(publication("g-1", "task-1"), [row])
    store.close()
