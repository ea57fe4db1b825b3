"""`tidegate quarantine replay` to a real topic: each record once, as it was, and no more often."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.table import replay as module
from supervisor.cli.table.replay import ORIGIN, Replay, Sent, replay
from supervisor.core.values.errors import StreamUnavailable
from supervisor.dev.broker import Broker
from tests.environment.brokers import create_topic, produce
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

pytestmark = pytest.mark.kafka

LATELY = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
HEADERS = [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}]
_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

Found = tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def errors_file(path: Path, offsets: Sequence[int], reason: str = "not-json") -> Path:
    """An errors file with records of partition 3 of the topic `origin`."""
    number = len(offsets)
    table = pa.table(
        {
            "__time": pa.array([LATELY] * number, pa.timestamp("us", tz="UTC")),
            "topic": pa.array(["origin"] * number),
            "partition": pa.array([3] * number, pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "reason": pa.array([reason] * number),
            "key": pa.array([None if n % 2 else b"k" for n in offsets], pa.binary()),
            "value": pa.array([b"\xff%d" % n for n in offsets], pa.binary()),
            "headers": pa.array([HEADERS if n % 2 else None for n in offsets], _TYPE),
        }
    )
    pq.write_table(table, path)
    return path


def in_topic(broker: Broker, topic: str) -> list[tuple[Found, int]]:
    """Each committed record of a topic of one partition, and its time in milliseconds."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "tests-replay",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    records = []
    try:
        while (message := consumer.poll(20)) is not None and message.error() is None:
            headers: object = message.headers() or []
            assert isinstance(headers, list)
            content = (message.key(), message.value(), headers)
            records.append((content, message.timestamp()[1]))
    finally:
        consumer.close()
    return records


def job(
    broker: Broker, topic: str, *files: Path, most: int = 100, keep_time: bool = False
) -> Replay:
    client = {"bootstrap.servers": broker.bootstrap}
    return Replay(files, topic, client, most=most, keep_time=keep_time)


def wanted(number: int) -> Found:
    kept = [("h", b"\xff"), ("h", None)] if number % 2 else []
    key = None if number % 2 else b"k"
    return key, b"\xff%d" % number, [*kept, (ORIGIN, b"origin:3:%d" % number)]


def test_each_record_is_sent_once_and_as_it_was(broker: Broker, tmp_path: Path) -> None:
    """Goal: a call that is cut into pieces, or repeated, sends nothing twice."""
    create_topic(broker.bootstrap, "replayed", partitions=1)
    files = errors_file(tmp_path / "a", [1, 2, 3]), errors_file(tmp_path / "b", [7, 8])

    reports = [replay(job(broker, "replayed", *files, most=2)) for _ in range(4)]

    assert [(each.sent, each.there, each.more) for each in reports] == [
        (2, 0, True),
        (2, 2, True),
        (1, 4, False),
        (0, 5, False),
    ]
    assert [found for found, _ in in_topic(broker, "replayed")] == [
        wanted(n) for n in (1, 2, 3, 7, 8)
    ]
    assert all(at > LATELY.timestamp() * 1000 + 60_000 for _, at in in_topic(broker, "replayed"))
    assert reports[-1].ends == {0: 8}  # five records and the ends of three transactions


def test_records_keep_their_time_and_go_by_reason_if_asked(broker: Broker, tmp_path: Path) -> None:
    create_topic(broker.bootstrap, "replayed-in-time", partitions=1)
    files = errors_file(tmp_path / "a", [1]), errors_file(tmp_path / "b", [2], "empty")
    replay_job = job(broker, "replayed-in-time", *files, keep_time=True)

    replay(Replay(replay_job.files, replay_job.topic, replay_job.client, "empty", keep_time=True))

    sent = in_topic(broker, "replayed-in-time")
    assert sent == [(wanted(2), int(LATELY.timestamp() * 1000))]


def test_a_replay_that_fails_half_way_sends_nothing(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: another replay to the same topic fences the first, whose transaction never counts."""
    create_topic(broker.bootstrap, "replayed-half", partitions=1)
    file = errors_file(tmp_path / "a", [1, 2, 3])
    once = job(broker, "replayed-half", file)
    looked = module._origins

    def another_comes_between(replay_job: Replay) -> frozenset[str]:
        had = looked(replay_job)
        monkeypatch.setattr(module, "_origins", looked)
        assert replay(once).sent == 3
        return had

    monkeypatch.setattr(module, "_origins", another_comes_between)
    with pytest.raises((StreamUnavailable, KafkaException)):
        replay(once)

    assert [found for found, _ in in_topic(broker, "replayed-half")] == [
        wanted(n) for n in (1, 2, 3)
    ]
    assert replay(once) == Sent(0, 3, more=False, ends={0: 4})


def test_topics_that_hide_what_was_sent_are_refused(broker: Broker, tmp_path: Path) -> None:
    """Goal: behind an open transaction, or deleted: nobody can tell, so nothing is sent."""
    create_topic(broker.bootstrap, "replayed-hidden", partitions=1)
    file = errors_file(tmp_path / "a", [1])
    other = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "tests-hides"})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce("replayed-hidden", b"open")
    assert other.flush(30) == 0

    with pytest.raises(CommandFailed, match="a transaction is open"):
        replay(job(broker, "replayed-hidden", file))
    other.abort_transaction(30)
    with pytest.raises(CommandFailed, match="there is no topic"):
        replay(job(broker, "replayed-nowhere", file))

    assert replay(job(broker, "replayed-hidden", file)).sent == 1


def test_the_command_sends_the_published_errors_of_a_supervisor(
    broker: Broker, tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    create_topic(broker.bootstrap, "replayed-by-hand", partitions=1)
    publisher = Publisher(tmp_path, broker.bootstrap)
    publisher.publish({0: 0}, {0: 6}, rows_of(0, 0, 4), rejects=[(0, 4, 5)])
    publisher.quarantine(0, [(0, 4), (0, 5)], kept=2)
    errors_file(tmp_path / "clicks/data/task-g0/errors-0.parquet", [4, 5])
    server.on("GET", "/api/v1/supervisors/clicks/ledger", Reply(publisher.ledger()))
    command = ("quarantine", "replay", "clicks", "--topic")

    unconfirmed = tidegate(*command, "replayed-by-hand")
    own = tidegate(*command, "clicks", "--yes")
    sent = tidegate(*command, "replayed-by-hand", "--yes")
    again = tidegate(*command, "replayed-by-hand", "--yes", "-o", "json").json()
    named = tidegate(*command, "replayed-by-hand", "--yes", "-o", "name")

    assert (unconfirmed.code, own.code) == (2, 1)
    assert "reads clicks itself" in own.err
    assert sent.out == "2 records sent to replayed-by-hand, 0 were there before\n"
    assert named.out == "clicks\n"
    assert again == {"sent": 0, "there": 2, "more": False, "endSequenceNumbers": {"0": 3}}
    produce(broker.bootstrap, "replayed-by-hand", ["somebody else's"])
    assert [found for found, _ in in_topic(broker, "replayed-by-hand")][:2] == [
        wanted(4),
        wanted(5),
    ]
