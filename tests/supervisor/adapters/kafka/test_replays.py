"""Replay of bad records to a real topic: each once, as it was, and no more often."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from supervisor.adapters.kafka import replays as module
from supervisor.adapters.kafka.replays import KafkaReplays, ReplayJob, replay
from supervisor.core.history.replays import ReplayOutcome, ReplayRequest
from supervisor.core.values.errors import SourceUnreadable, StreamUnavailable
from supervisor.dev.broker import Broker
from tasks.contract.connection_policy import ConnectionPolicy
from tasks.contract.kafka_client import KafkaClient
from tests.environment.brokers import create_topic
from tests.supervisor.adapters.kafka.errors_files import LATELY, errors_file, in_topic, wanted

pytestmark = pytest.mark.kafka


def job(
    broker: Broker,
    topic: str,
    *files: Path,
    most: int = 100,
    keep_time: bool = False,
    mark: str = "",
) -> ReplayJob:
    client = {"bootstrap.servers": broker.bootstrap}
    return ReplayJob(files, client, ReplayRequest(topic, mark, most=most, keep_time=keep_time))


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
    empty = ReplayRequest("replayed-in-time", "", "empty", keep_time=True)

    replay(ReplayJob(files, {"bootstrap.servers": broker.bootstrap}, empty))

    sent = in_topic(broker, "replayed-in-time")
    assert sent == [(wanted(2), int(LATELY.timestamp() * 1000))]


def test_a_replay_that_fails_half_way_sends_nothing(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: another replay to the same topic fences the first, whose transaction never counts."""
    create_topic(broker.bootstrap, "replayed-half", partitions=1)
    file = errors_file(tmp_path / "a", [1, 2, 3])
    once = job(broker, "replayed-half", file)
    looked = module._present

    def another_comes_between(
        replay_job: ReplayJob, marks: Mapping[int, tuple[int, int]]
    ) -> object:
        had = looked(replay_job, marks)
        monkeypatch.setattr(module, "_present", looked)
        assert replay(once).sent == 3
        return had

    monkeypatch.setattr(module, "_present", another_comes_between)
    with pytest.raises((StreamUnavailable, KafkaException)):
        replay(once)

    assert [found for found, _ in in_topic(broker, "replayed-half")] == [
        wanted(n) for n in (1, 2, 3)
    ]
    assert replay(once) == ReplayOutcome(0, 3, more=False, ends={0: 4})


def test_topics_that_hide_what_was_sent_are_refused(broker: Broker, tmp_path: Path) -> None:
    """Goal: behind an open transaction, or deleted: nobody can tell, so nothing is sent."""
    create_topic(broker.bootstrap, "replayed-hidden", partitions=1)
    file = errors_file(tmp_path / "a", [1])
    other = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "tests-hides"})
    other.init_transactions(30)
    other.begin_transaction()
    other.produce("replayed-hidden", b"open")
    assert other.flush(30) == 0

    with pytest.raises(SourceUnreadable, match="a transaction is open"):
        replay(job(broker, "replayed-hidden", file))
    other.abort_transaction(30)
    with pytest.raises(SourceUnreadable, match="there is no topic"):
        replay(job(broker, "replayed-nowhere", file))

    assert replay(job(broker, "replayed-hidden", file)).sent == 1


def test_a_replay_that_is_repeated_sends_no_more_than_it_may(
    broker: Broker, tmp_path: Path
) -> None:
    """Goal: after a crash behind the commit it tells what it has sent, and sends nothing more."""
    create_topic(broker.bootstrap, "replayed-marked", partitions=1)
    file = errors_file(tmp_path / "a", [1, 2, 3, 4])
    assert replay(job(broker, "replayed-marked", file, most=1)).sent == 1
    marked = job(broker, "replayed-marked", file, most=2, mark="m1")

    outcomes = [replay(marked) for _ in range(2)]

    assert [(each.sent, each.there, each.more) for each in outcomes] == [(2, 1, True)] * 2
    assert [found for found, _ in in_topic(broker, "replayed-marked")] == [
        wanted(1),
        wanted(2, "m1"),
        wanted(3, "m1"),
    ]


def test_a_record_that_is_kept_twice_is_sent_once(broker: Broker, tmp_path: Path) -> None:
    """Goal: after a reset a supervisor reads bad records again, and keeps them again."""
    create_topic(broker.bootstrap, "replayed-again-read", partitions=1)
    files = errors_file(tmp_path / "a", [1, 2]), errors_file(tmp_path / "b", [2, 3])

    outcome = replay(job(broker, "replayed-again-read", *files))

    assert (outcome.sent, outcome.there) == (3, 0)
    assert [found for found, _ in in_topic(broker, "replayed-again-read")] == [
        wanted(n) for n in (1, 2, 3)
    ]


def test_an_overlord_looks_and_sends_within_its_bounds(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: by reason and partition, only where the operator allows, and only what it can hold."""
    create_topic(broker.bootstrap, "replayed-by-overlord", partitions=1)
    errors_file(tmp_path / "a", [1, 2])
    errors_file(tmp_path / "b", [7], "empty")
    client = KafkaClient(bootstrap_servers=broker.bootstrap)
    sender = KafkaReplays(tmp_path, str, ConnectionPolicy())
    request = ReplayRequest("replayed-by-overlord", "m1", "not-json", 3)
    elsewhere = ReplayRequest("replayed-by-overlord", "m2", partition=4)

    def send(wanted_records: ReplayRequest, *, stops: bool = False) -> ReplayOutcome:
        return sender.send(client, wanted_records, ["a", "b"], lambda: stops)

    assert sender.there(client, request, ["a", "b"]) == 0
    with pytest.raises(StreamUnavailable, match="stops"):
        send(request, stops=True)
    assert (send(request).sent, send(elsewhere).sent) == (2, 0)
    assert sender.there(client, request, ["a", "b"]) == 2
    with pytest.raises(SourceUnreadable, match="there is no topic"):
        sender.there(client, ReplayRequest("replayed-nowhere", ""), ["a"])
    with pytest.raises(SourceUnreadable, match="forbid"):
        KafkaReplays(tmp_path, str, ConnectionPolicy(("elsewhere",))).send(
            client, request, ["a"], lambda: False
        )
    monkeypatch.setattr(module, "SCANNED_MAX", 1)
    monkeypatch.setattr(module, "LOOKED_MAX", 1)
    with pytest.raises(SourceUnreadable, match="more than an overlord looks through"):
        send(request)
    assert sender.there(client, request, ["a"]) is None
