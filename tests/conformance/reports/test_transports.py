"""What holds of each way out of a process: by Kafka to a topic, by HTTP to a persister."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from supervisor.adapters.reports.database import ReportDatabase
from supervisor.adapters.reports.sql import SqlReports
from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.ports.reports.reports import ReportQuery
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.sending.http_transport import HttpTransport
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, Transport, TransportAway
from tests.environment.brokers import create_topic, read_all
from tests.integration.reports.persisters import Persisters

_NUMBERS = count()
"""Of topics, which no two tests share."""


@dataclass
class WayOut:
    """One kind of transport, and what lies behind it."""

    transport: Transport
    refused: Callable[[], int]
    never: Outgoing
    """A record that is never taken."""
    nowhere: Transport
    """The same kind, with nothing behind it."""
    arrived: Callable[[], set[str]]
    """Ids of the records that are where no crash of the sender loses them."""


@pytest.fixture
def by_kafka(broker: Broker) -> Iterator[WayOut]:
    topic = f"transports-{next(_NUMBERS)}.completed.default"
    create_topic(broker.bootstrap, topic, partitions=4, config={"max.message.bytes": "20000"})
    transport = KafkaTransport({"bootstrap.servers": broker.bootstrap}, topic, "w-1")
    nobody = {"bootstrap.servers": f"{LOOPBACK}:{free_port()}"}
    noise = b"".join(b"%x" % (n * n) for n in range(9_000))

    def arrived() -> set[str]:
        held = read_all(broker.bootstrap, topic).values()
        return {json.loads(body)["recordId"] for bodies in held for body in bodies}

    yield WayOut(
        transport,
        lambda: transport.refused_total,
        Outgoing("a", noise),
        KafkaTransport(nobody, topic, "w-1", answers_within_s=2.0),
        arrived,
    )
    transport.close()


@pytest.fixture
def by_http(tmp_path: Path) -> Iterator[WayOut]:
    with Persisters(tmp_path, {}) as persisters:
        url = str(persisters.start().http.base_url)
        transport = HttpTransport(lambda: [url.rstrip("/")])

        def arrived() -> set[str]:
            database = ReportDatabase(f"sqlite:///{tmp_path}/reports.db")
            stored = SqlReports(database).list(ReportQuery(), 10_000)
            database.close()
            return {each.record_id for each in stored}

        yield WayOut(
            transport,
            lambda: transport.refused_total,
            Outgoing("a", b'{"v": 99}'),
            HttpTransport(lambda: [f"http://{LOOPBACK}:{free_port()}"]),
            arrived,
        )
        transport.close()


@pytest.fixture(
    params=[
        pytest.param("by_kafka", marks=pytest.mark.kafka),
        pytest.param("by_http", marks=pytest.mark.process),
    ]
)
def way_out(request: pytest.FixtureRequest) -> WayOut:
    way: WayOut = request.getfixturevalue(request.param)
    return way


def _records(first: int, last: int) -> list[ReportRecord]:
    kind = RecordType.PROGRESS
    return [
        ReportRecord(
            type=kind,
            record_id=record_id_of(f"task-{seq % 7}", 0, kind, seq),
            subject=f"task-{seq % 7}",
            origin=RecordOrigin.STREAM,
            at=datetime(2026, 3, 1, tzinfo=UTC),
            seq=seq,
        )
        for seq in range(first, last)
    ]


def _batch(records: list[ReportRecord]) -> list[Outgoing]:
    return [Outgoing(each.subject, each.to_json().encode()) for each in records]


def test_a_batch_is_safe_when_it_counts_as_sent_also_after_a_close_and_a_repeat(
    way_out: WayOut,
) -> None:
    first, second = _records(0, 500), _records(500, 510)
    transport = way_out.transport

    transport.send(_batch(first))
    sent = way_out.arrived()
    transport.close()
    transport.send(_batch([*first[:100], *second]))
    transport.send([])

    assert sent == {each.record_id for each in first}
    assert way_out.arrived() == sent | {each.record_id for each in second}
    assert way_out.refused() == 0


def test_a_record_that_is_never_taken_is_left_out_and_counted(way_out: WayOut) -> None:
    records = _records(1_000, 1_010)
    before = way_out.refused()

    way_out.transport.send([*_batch(records[:5]), way_out.never, *_batch(records[5:])])

    assert {each.record_id for each in records} <= way_out.arrived()
    assert way_out.refused() == before + 1


def test_what_is_away_is_named(way_out: WayOut) -> None:
    with pytest.raises(TransportAway, match=LOOPBACK):
        way_out.nowhere.send(_batch(_records(0, 1)))
    way_out.nowhere.close()
