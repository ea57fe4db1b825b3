"""An overlord without a worker, and a real broker: offsets are looked up, judged and committed."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.integration.oracle import record, spec
from tests.integration.overlords import SUPERVISORS, Overlord, Overlords
from tests.waiting import HANGS_AFTER_S, wait_until

PARTITIONS = 3
RECORDS = 60
"""In each partition."""

# A machine that is all used up answers late: only what hangs fails.
expect.set_options(timeout=HANGS_AFTER_S * 1_000)

_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Reader:
    """A supervisor of a topic of its own, both with the id as their name."""

    id: str
    overlord: Overlord
    bootstrap: str

    @property
    def page(self) -> str:
        """The address of its first tab."""
        return f"/ui/supervisors/{self.id}/overview"

    def send(self, each: int) -> None:
        """Send so many records to each partition."""
        produce(self.bootstrap, self.id, (record(n) for n in range(each * PARTITIONS)))

    def status(self) -> dict[str, JsonValue]:
        """Return the payload of its status."""
        answer = self.overlord.http.get(f"{SUPERVISORS}/{self.id}/status").raise_for_status()
        payload: dict[str, JsonValue] = answer.json()["payload"]
        return payload

    def committed(self) -> JsonValue:
        """Return partition -> committed offset."""
        return self.status()["committedOffsets"]

    def gaps(self) -> list[tuple[str, int, int, int]]:
        """Return kind, partition, from and to of what is on record as left out or read again."""
        answer = self.overlord.http.get(f"/api/v1/supervisors/{self.id}/ledger").raise_for_status()
        gaps = answer.json()["gaps"]
        return sorted((gap["kind"], gap["partition"], gap["from"], gap["to"]) for gap in gaps)

    def go_on_at(self, offset: int) -> None:
        """Set all offsets, by the API, and wait for the ranges that begin there.

        A preview from before would differ from one from after, as its ranges are others.
        """
        offsets: JsonValue = {str(n): offset for n in range(PARTITIONS)}
        end: JsonValue = {"type": "end", "stream": self.id, "partitionOffsetMap": offsets}
        body: JsonValue = {"type": "kafka", "partitions": end}
        path = f"{SUPERVISORS}/{self.id}/resetOffsets"
        self.overlord.http.post(path, json=body).raise_for_status()
        wait_until(lambda: self.reads_from(offset))

    def reads_from(self, offset: int) -> bool:
        """Whether ranges that begin at this offset are live in all partitions."""
        path, look = f"{SUPERVISORS}/{self.id}/reset", {"dryRun": "true", "to": "earliest"}
        given_up = self.overlord.http.post(path, params=look).raise_for_status().json()["discarded"]
        begins = [each["from"] for group in given_up for each in group["offsets"]]
        return begins == [offset] * PARTITIONS


@pytest.fixture(scope="package")
def overlord(_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Overlord]:
    """An overlord that leads; it has no worker, so that no range publishes by itself."""
    folder = tmp_path_factory.mktemp("supervisor-page")
    with Overlords(folder, f"sqlite:///{folder / 'metadata.db'}") as overlords:
        yield overlords.start_leader(TIDEGATE_SUPERVISOR_PERIOD="PT1S")


@pytest.fixture
def reader(overlord: Overlord, broker: Broker) -> Reader:
    """A supervisor that is about to read a topic from its beginning."""
    return new_reader(overlord, broker)


def new_reader(overlord: Overlord, broker: Broker, task_duration: str = "PT20S") -> Reader:
    """Start a supervisor of a new topic, and wait until its first offsets are stored."""
    name = f"orders-{next(_NUMBERS)}"
    create_topic(broker.bootstrap, name, partitions=PARTITIONS)
    reader = Reader(name, overlord, broker.bootstrap)
    reader.send(RECORDS)
    document = spec(broker.bootstrap, name, task_count=1, task_duration=task_duration)
    overlord.http.post(SUPERVISORS, json=document).raise_for_status()
    wait_until(lambda: reader.committed() == all_at(0))
    return reader


def all_at(offset: int) -> JsonValue:
    """Return partition -> the same offset, as the status names it."""
    return {str(n): offset for n in range(PARTITIONS)}
