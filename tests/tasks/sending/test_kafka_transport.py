"""Records by a real broker: all of a batch or none counts, and what is away is named."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from supervisor.dev.broker import Broker
from supervisor.dev.ports import LOOPBACK
from tasks.reporting.record import (
    RecordOrigin,
    RecordType,
    ReportRecord,
    read_record,
    record_id_of,
)
from tasks.reporting.sizes import TOPIC_BYTES
from tasks.sending.kafka_transport import KafkaTransport
from tasks.sending.transport import Outgoing, TransportAway
from tests.environment.brokers import create_topic, read_all

pytestmark = pytest.mark.kafka


def _transport(bootstrap: str, topic: str, within_s: float = 30.0) -> KafkaTransport:
    return KafkaTransport({"bootstrap.servers": bootstrap}, topic, "worker-1", within_s)


def test_a_batch_is_in_the_topic_when_it_counts_as_sent(broker: Broker) -> None:
    topic = "completed.sent"
    create_topic(broker.bootstrap, topic, partitions=4)
    transport = _transport(broker.bootstrap, topic)
    bodies = [b'{"seq": %d}' % number for number in range(500)]

    transport.send([Outgoing(f"task-{n % 7}", body) for n, body in enumerate(bodies)])
    transport.close()
    transport.send([Outgoing("task-1", b"after a close")])

    read = [body for held in read_all(broker.bootstrap, topic).values() for body in held]
    assert sorted(read) == sorted([*bodies, b"after a close"])
    assert transport.refused_total == 0


def test_what_is_no_record_and_too_large_is_left_out_and_counted(broker: Broker) -> None:
    topic = "completed.small"
    create_topic(broker.bootstrap, topic, config={"max.message.bytes": "2000"})
    transport = _transport(broker.bootstrap, topic)

    transport.send([Outgoing("a", b"first")])
    transport.send([Outgoing("a", _noise(4_000).encode())])
    transport.send([Outgoing("a", b"last")])

    assert read_all(broker.bootstrap, topic) == {0: [b"first", b"last"]}
    assert transport.refused_total == 1


def test_what_a_topic_does_not_take_whole_is_sent_in_records_that_fit(broker: Broker) -> None:
    topic, lines, note = "completed.smaller", _noise(15_000), _noise(14_000)
    create_topic(broker.bootstrap, topic, config={"max.message.bytes": "20000"})
    transport = _transport(broker.bootstrap, topic)
    report = _record(RecordType.TASK_REPORT, {"note": note})

    with capture_logs() as logged:
        transport.send([_outgoing(_record(RecordType.LOG_CHUNK, {"text": lines}))])
        transport.send([_outgoing(report)])

    *pieces, kept = map(read_record, read_all(broker.bootstrap, topic)[0])
    assert "".join(str(each.payload["text"]) for each in pieces) == lines
    assert (kept.record_id, kept.truncated is not None) == (report.record_id, True)
    assert transport.refused_total == 0
    [warning] = logged
    assert warning["takes"] == "20000 bytes"
    assert str(warning["command"]).endswith(f"{topic} --add-config max.message.bytes={TOPIC_BYTES}")


@pytest.mark.parametrize("kind", [RecordType.EVENT, RecordType.AUDIT])
def test_what_the_archive_would_take_for_whole_is_never_cut(
    broker: Broker, kind: RecordType
) -> None:
    topic = f"completed.archive-{kind}"
    create_topic(broker.bootstrap, topic, config={"max.message.bytes": "20000"})
    transport = _transport(broker.bootstrap, topic)

    with capture_logs() as logged:
        transport.send([_outgoing(_record(kind, {"detail": _noise(14_000)}))])

    assert read_all(broker.bootstrap, topic) == {0: []}
    assert transport.refused_total == 1
    assert [each["topic"] for each in logged] == [topic]


def test_a_broker_that_is_away_is_named_with_what_to_check() -> None:
    transport = _transport(f"{LOOPBACK}:1", "completed.default", within_s=2.0)

    with pytest.raises(TransportAway, match=r"check bootstrap\.servers"):
        transport.send([Outgoing("a", b"1")])
    transport.close()


def _noise(count: int) -> str:
    """Return text that no compression makes small."""
    return "".join(f"{n * n:x}" for n in range(count))


def _record(kind: RecordType, payload: dict[str, JsonValue]) -> ReportRecord:
    is_log = kind is RecordType.LOG_CHUNK
    return ReportRecord(
        type=kind,
        record_id=record_id_of("task-1", 0, kind, 0),
        subject="task-1",
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 3, 1, tzinfo=UTC),
        seq=None if is_log else 0,
        offset=0 if is_log else None,
        payload=payload,
    )


def _outgoing(record: ReportRecord) -> Outgoing:
    return Outgoing(record.subject, record.to_json().encode())
