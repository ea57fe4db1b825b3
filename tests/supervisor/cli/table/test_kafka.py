"""`verify` and `doctor` against a real broker: what Kafka does, seen from outside."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from supervisor.dev.broker import Broker
from supervisor.verify.runs import Runs
from supervisor.verify.topic import TopicRead, _TopicReading, read_topic
from tasks.contract.kafka_client import KafkaClient, SecretRef
from tasks.contract.offsets import TopicPartition as Partition
from tests.environment.brokers import create_topic, produce
from tests.supervisor.cli.conftest import Ended, Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply
from tests.supervisor.cli.table.tables import Publisher, rows_of

pytestmark = pytest.mark.kafka

WAIT_S = 30.0
LEDGER = "/api/v1/supervisors/clicks/ledger"


@pytest.fixture
def publisher(broker: Broker, tmp_path: Path) -> Iterator[Publisher]:
    """A topic `clicks` of two partitions with 50 records each; nothing of it is published."""
    create_topic(broker.bootstrap, "clicks", partitions=2)
    produce(broker.bootstrap, "clicks", (f'{{"n": {n}}}' for n in range(100)))
    clicks = Publisher(tmp_path / "warehouse", broker.bootstrap)
    yield clicks
    delete(broker, "clicks")


def delete(broker: Broker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([topic], operation_timeout=WAIT_S)[topic].result(WAIT_S)


def delete_records(broker: Broker, partition: int, before: int) -> None:
    """Delete what is older, as retention does."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    at = TopicPartition("clicks", partition, before)
    for done in admin.delete_records([at]).values():
        done.result(WAIT_S)


def verify(
    tidegate: Tidegate, server: Overlord, publisher: Publisher, *options: str
) -> tuple[Ended, dict[str, object]]:
    server.on("GET", LEDGER, Reply(publisher.ledger()))
    server.on("GET", "/api/v1/datasources/clicks/files", Reply(publisher.listed()))
    ended = tidegate("verify", "clicks", *options, "-o", "json")
    return ended, cast("dict[str, object]", ended.json())


def kinds(verdict: dict[str, object]) -> set[str]:
    return {found["kind"] for found in cast("list[dict[str, str]]", verdict["findings"])}


def test_a_table_that_holds_each_record_once_is_proven(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 20}, rows_of(0, 0, 20))
    publisher.publish({1: 0}, {1: 50}, rows_of(1, 0, 49), rejects=[(1, 49, 49)])
    publisher.publish({0: 20}, {0: 50}, rows_of(0, 20, 50))

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, verdict["verdict"], verdict["records"]) == (0, "proven", 100)
    ended = tidegate("verify", "clicks")
    assert ended.out.splitlines()[-1] == (
        "clicks: proven: 100 records in 2 partitions, 0 lost, 0 duplicated "
        "(3 publications, 1 rejected and explained)"
    )


def test_records_beyond_the_committed_offset_are_not_yet_claimed(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0, 1: 10}, {0: 20, 1: 30}, rows_of(0, 0, 20) + rows_of(1, 10, 30))

    ended, verdict = verify(tidegate, server, publisher, "--strict")

    assert (ended.code, verdict["verdict"], verdict["records"]) == (0, "proven", 40)


def test_a_lost_and_a_doubled_record_are_found_in_the_real_topic(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: the counts are right, and yet one record is missing and another is there twice."""
    publisher.publish({0: 0}, {0: 50}, [*rows_of(0, 0, 30), *rows_of(0, 31, 50), (0, 7)])

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, verdict["lost"], verdict["duplicated"]) == (1, 1, 1)
    assert kinds(verdict) == {"lost-write", "duplicate"}
    table = tidegate("verify", "clicks")
    assert "clicks: violated: 49 records in 1 partitions, 1 lost, 1 duplicated" in table.out


def test_a_row_that_the_topic_never_had_is_found(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 55}, rows_of(0, 0, 55))

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, kinds(verdict)) == (1, {"unknown-row"})


def test_a_file_that_readers_are_not_given_is_found(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 50}, rows_of(0, 0, 50))
    publisher.files.clear()

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, kinds(verdict)) == (1, {"missing-file"})


def test_what_retention_deleted_is_proven_by_offsets_only(
    broker: Broker, tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 50}, rows_of(0, 0, 50))
    delete_records(broker, 0, 20)

    ended, verdict = verify(tidegate, server, publisher)
    assert (ended.code, verdict["verdict"]) == (0, "offsets only")
    assert (verdict["records"], verdict["unproven"]) == (30, 20)

    assert verify(tidegate, server, publisher, "--strict")[0].code == 1


def test_rows_that_were_dropped_on_purpose_are_told_and_are_no_loss(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 20}, rows_of(0, 0, 19), rejects=[(0, 19, 19)])
    publisher.publish({0: 20}, {0: 50}, rows_of(0, 20, 50))
    publisher.let_go(0)

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, verdict["verdict"], verdict["lost"]) == (0, "offsets only", 0)
    assert (verdict["dropped"], verdict["records"], verdict["rejected"]) == (19, 31, 1)


def test_a_segment_that_is_taken_out_while_we_ask_is_no_finding(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 50}, rows_of(0, 0, 50))
    before = deepcopy(publisher.ledger())
    publisher.let_go(0)
    server.on("GET", LEDGER, Reply(before), Reply(publisher.ledger()))
    server.on("GET", "/api/v1/datasources/clicks/files", Reply(publisher.listed()))

    assert tidegate("verify", "clicks").code == 0


def test_aborted_records_are_no_records(
    broker: Broker, tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    """Goal: 3 committed records, a marker, 2 aborted ones, a marker, 1 record."""
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "transactional.id": "verify", "log_level": 3}
    )
    producer.init_transactions(WAIT_S)
    for count, commit in ((3, True), (2, False)):
        producer.begin_transaction()
        for _ in range(count):
            producer.produce("clicks", b"{}", partition=0)
        assert producer.flush(WAIT_S) == 0
        end = producer.commit_transaction if commit else producer.abort_transaction
        end(WAIT_S)
    produce(broker.bootstrap, "clicks", ["{}"], partition=0)
    publisher.publish({0: 0}, {0: 58}, [*rows_of(0, 0, 53), (0, 57)])

    ended, verdict = verify(tidegate, server, publisher)
    assert (ended.code, verdict["records"]) == (0, 54)

    publisher.publications.clear()
    publisher.files.clear()
    publisher.publish({0: 0}, {0: 58}, [*rows_of(0, 0, 53), (0, 54), (0, 57)])
    ended, verdict = verify(tidegate, server, publisher)
    assert (ended.code, kinds(verdict)) == (1, {"unknown-row"})


def test_a_range_that_ends_in_markers_ends(
    broker: Broker, tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "transactional.id": "markers", "log_level": 3}
    )
    producer.init_transactions(WAIT_S)
    producer.begin_transaction()
    producer.produce("clicks", b"{}", partition=0)
    producer.commit_transaction(WAIT_S)
    publisher.publish({0: 0}, {0: 52}, rows_of(0, 0, 51))

    ended, verdict = verify(tidegate, server, publisher)

    assert (ended.code, verdict["verdict"], verdict["records"]) == (0, "proven", 51)


def test_a_topic_made_anew_proves_nothing_of_the_old_one(
    tidegate: Tidegate, server: Overlord, publisher: Publisher
) -> None:
    publisher.publish({0: 0}, {0: 50}, rows_of(0, 0, 50))
    ledger = publisher.ledger()
    cast("list[dict[str, object]]", ledger["committed"])[0]["topicId"] = "AAAAAAAAAAAAAAAAAAAAAA"
    server.on("GET", LEDGER, Reply(ledger))
    server.on("GET", "/api/v1/datasources/clicks/files", Reply(publisher.listed()))

    ended = tidegate("verify", "clicks")

    assert ended.code == 0
    assert "deleted and made anew" in ended.err
    assert "clicks: offsets only: 0 records" in ended.out


def test_the_reader_knows_a_compacted_topic(broker: Broker) -> None:
    create_topic(broker.bootstrap, "compacted", partitions=1, config={"cleanup.policy": "compact"})

    topic_read = read(broker, {Partition("compacted", 0): (0, 5)})

    assert topic_read.compacted == {"compacted"}
    assert topic_read.records == {Partition("compacted", 0): Runs()}


def read(broker: Broker, wanted: dict[Partition, tuple[int, int]]) -> TopicRead:
    def no_secret(_: SecretRef) -> str:
        raise AssertionError("no secret is needed")

    client = KafkaClient(bootstrap_servers=broker.bootstrap)
    return read_topic(client, no_secret, wanted, topic_ids={}, progress=lambda _: None)


def test_the_reader_counts_every_offset_once(broker: Broker, publisher: Publisher) -> None:
    wanted = {Partition("clicks", 0): (10, 30), Partition("clicks", 1): (0, 70)}
    assert publisher.kafka == broker.bootstrap

    topic_read = read(broker, wanted)

    assert topic_read.records == {
        Partition("clicks", 0): Runs([(10, 30)]),
        Partition("clicks", 1): Runs([(0, 50)]),
    }
    assert topic_read.unreadable == {}


def test_offsets_past_the_topics_end_hold_no_records(broker: Broker, publisher: Publisher) -> None:
    """Goal: an end that was lost by an unclean election ends the reading, and explains nothing."""
    at = Partition("clicks", 0)
    assert publisher.kafka == broker.bootstrap

    found = read(broker, {at: (60, 70)})

    assert (found.records, found.unreadable) == ({at: Runs()}, {})


def test_what_is_deleted_while_we_read_is_unreadable(broker: Broker, publisher: Publisher) -> None:
    """Goal: retention runs between the look at the low watermark and the first fetch."""

    class LooksTooEarly(_TopicReading):
        looks = 0

        def _skip_expired(self, at: Partition) -> None:
            self.looks += 1
            if self.looks > 1:
                super()._skip_expired(at)

    at = Partition("clicks", 0)
    delete_records(broker, 0, 20)
    properties = {"bootstrap.servers": publisher.kafka}
    reading = LooksTooEarly(properties, {at: (0, 50)}, lambda _: None, timedelta(seconds=WAIT_S))
    reading.prepare({})
    reading.run()
    reading.close()

    found = reading.result()
    assert found.unreadable == {at: Runs([(0, 20)])}
    assert found.records == {at: Runs([(20, 50)])}


def test_a_topic_that_is_gone_is_unreadable(broker: Broker) -> None:
    gone = Partition("gone", 0)

    topic_read = read(broker, {gone: (3, 8)})

    assert (topic_read.unreadable, topic_read.records) == ({gone: Runs([(3, 8)])}, {gone: Runs()})
    assert topic_read.notes == ("the topic gone is not there any more",)


def test_a_broker_that_is_down_is_exit_code_3(
    tidegate: Tidegate, server: Overlord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supervisor.verify.topic._ASK_S", 1.0)
    publisher = Publisher(tmp_path, "127.0.0.1:1")
    publisher.publish({0: 0}, {0: 5}, rows_of(0, 0, 5))
    server.on("GET", LEDGER, Reply(publisher.ledger()))
    server.on("GET", "/api/v1/datasources/clicks/files", Reply(publisher.listed()))

    ended = tidegate("verify", "clicks")

    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("error: Kafka at 127.0.0.1:1")


def test_doctor_finds_the_broker(broker: Broker, tidegate: Tidegate) -> None:
    ended = tidegate("doctor", "--kafka", broker.bootstrap, "-o", "json")

    rows = cast("list[dict[str, str]]", ended.json())
    assert [row["result"] for row in rows if row["part"].startswith("kafka")] == ["ok"]
