"""A sample against a batch of the same range: the same rows, and the same reasons.

Slow: each sample is a batch of Spark with its own specs.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from pydantic import JsonValue

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    IngestSpec,
    KafkaColumns,
    Metric,
    TextFormat,
    TimestampSpec,
    Transform,
    UnfitValues,
)
from tasks.contract.offsets import TopicPartition
from tasks.contract.sample import BYTES_MAX, DesiredSample, SampleAnswer
from tasks.ingest.engine import SparkEngine
from tasks.ingest.sample import SparkSampler
from tasks.kafka.schema_registry import RegistryClient
from tasks.ports import BatchCancelled, StreamTimeout
from tasks.spark.session import SparkRuntime
from tasks.worker.process import start_spark_thread
from tests.environment.brokers import create_topic, produce
from tests.tasks.ingest.batches import batch, paths_below, spec_for
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]

NewTopic = Callable[[int], str]
OWN = ("__partition", "__offset", "__topic")
COLUMNS = (Column(name="id", type="long"), Column(name="user"))
RECORDS = (
    '{"t":1700000000000,"id":1,"user":"a"}',
    '{"t":1700000000001,"id":2.5,"user":"b","more":[1,2]}',
    "this is no JSON",
    '{"t":1700000000002,"id":3,"user":"drop","more":7}',
    "[1, 2]",
    '{"id":4,"user":"no time"}',
    '{"t":"yesterday","id":5,"user":"odd time"}',
    '{"t":1700000000003,"id":6,"user":null,"deep":{"a":[1,{"b":"ü"}]},"price":0.1}',
    "",
    '{"t":1700000000004,"id":9223372036854775807,"user":"long"}',
)


def with_format(spec: IngestSpec, **changed: object) -> IngestSpec:
    return IngestSpec.model_validate({**dict(spec), **changed})


def specs(bootstrap: str) -> dict[str, IngestSpec]:
    """One spec of each kind."""
    plain = spec_for(bootstrap, columns=COLUMNS)
    discovering = spec_for(bootstrap, columns=())
    return {
        "declared": plain,
        "texts": discovering,
        "types": with_format(discovering, discovery=Discovery.TYPES),
        "typed": with_format(plain, typed=("more", "price")),
        "json": with_format(plain, columns=(*COLUMNS, Column(name="deep", type="json"))),
        "array": with_format(plain, columns=(Column(name="more", type="array<double>"),)),
        "filter": with_format(plain, filter=Selector(dimension="user", value="a")),
        "unfit": with_format(plain, unfit_values=UnfitValues.QUARANTINE),
        "transforms": with_format(
            plain, transforms=(Transform(name="user", expression="upper(user)"),)
        ),
        "metrics": with_format(
            plain, metrics=(Metric(name="n", of="count"), Metric(name="ids", of="sum", field="id"))
        ),
        "kafka": with_format(
            discovering, kafka_columns=KafkaColumns(topic="its topic", key="its key")
        ),
        "csv": with_format(
            plain,
            value_format=TextFormat(type="csv", columns=("a", "id", "user"), delimiter=","),
            timestamp=TimestampSpec(column="none", missing_value=datetime(2026, 1, 1, tzinfo=UTC)),
        ),
    }


KINDS = tuple(specs("localhost:9092"))


@pytest.fixture(scope="module")
def sampler(spark: SparkRuntime, tmp_path_factory: pytest.TempPathFactory) -> SparkSampler:
    engine = SparkEngine(spark, str(tmp_path_factory.mktemp("none")), lambda _: "")
    return SparkSampler(spark, engine.jobs, lambda _: "", RegistryClient(lambda _: ""))


def order(
    spec: IngestSpec,
    topic: str,
    ends: Mapping[int, int],
    *,
    rows: int = 200,
    newest: bool = False,
    size_bytes: int = BYTES_MAX,
    name: str = "s",
) -> DesiredSample:
    return DesiredSample(
        sample_id=f"sample-{topic}-{name}",
        token="t",
        spec=spec,
        earliest={TopicPartition(topic, p): 0 for p in ends},
        latest={TopicPartition(topic, p): end for p, end in ends.items()},
        newest=newest,
        rows=rows,
        size_bytes=size_bytes,
        within=timedelta(seconds=60),
    )


def places(answer: SampleAnswer) -> list[tuple[int, int]]:
    return [(record.partition, record.offset) for record in answer.records]


def milliseconds(value: object) -> object:
    return int(value.timestamp() * 1000) if isinstance(value, datetime) else value


@pytest.fixture(scope="module")
def records_topic(broker: Broker) -> str:
    topic = "sample-records"
    produce(broker.bootstrap, _created(broker, topic, 2), RECORDS)
    return topic


def _created(broker: Broker, topic: str, partitions: int) -> str:
    create_topic(broker.bootstrap, topic, partitions=partitions)
    return topic


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_has_the_rows_and_reasons_of_a_batch(
    kind: str,
    broker: Broker,
    records_topic: str,
    spark: SparkRuntime,
    sampler: SparkSampler,
    tmp_path: Path,
) -> None:
    """Goal: what is shown before a spec is posted is what its tasks will write."""
    topic, spec = records_topic, specs(broker.bootstrap)[kind]
    ends = {0: 5, 1: 5}
    answer = sampler.sample(order(spec, topic, ends, name=kind))
    engine = SparkEngine(spark, str(tmp_path), lambda _: "")
    entry = engine.read_batch(batch(spec, topic, {p: (0, end) for p, end in ends.items()}))

    rows: dict[tuple[int, int], dict[str, object]] = {}
    for file in entry.files:
        for row in pq.read_table(tmp_path / file.path, partitioning=None).to_pylist():
            place = row["__partition"], row["__offset"]
            rows[place] = {k: milliseconds(v) for k, v in row.items() if k not in OWN}
    assert entry.rejects is not None
    reasons = {
        (row["partition"], offset): row["reason"]
        for row in pq.read_table(tmp_path / entry.rejects.path).to_pylist()
        for offset in range(row["first"], row["last"] + 1)
    }
    sampled: dict[tuple[int, int], dict[str, JsonValue]] = {
        (r.partition, r.offset): r.values for r in answer.records if r.values is not None
    }
    assert sampled == rows
    reason_of = {(r.partition, r.offset): r.reason for r in answer.records if r.reason}
    assert reason_of == reasons
    assert [r.input for r in answer.records if r.partition == 0] == list(RECORDS[::2])
    assert [c.name for c in answer.columns] == [
        name for name in next(iter(sampled.values())) if name != "__time"
    ]


def test_nothing_is_written(
    broker: Broker, records_topic: str, spark: SparkRuntime, tmp_path: Path
) -> None:
    engine = SparkEngine(spark, str(tmp_path), lambda _: "")
    sampler = SparkSampler(spark, engine.jobs, lambda _: "", RegistryClient(lambda _: ""))

    sampler.sample(order(specs(broker.bootstrap)["types"], records_topic, {0: 5}, name="dry"))

    assert paths_below(tmp_path) == set()


def test_the_first_and_the_last_records_are_spread_over_partitions(
    broker: Broker, new_topic: NewTopic, sampler: SparkSampler
) -> None:
    topic, spec = new_topic(2), spec_for(broker.bootstrap)
    for partition, number in ((0, 3), (1, 20)):
        values = ['{"t":1,"id":1}'] * number
        produce(broker.bootstrap, topic, values, partition=partition)

    first = sampler.sample(order(spec, topic, {0: 3, 1: 20}, rows=10))
    last = sampler.sample(order(spec, topic, {0: 3, 1: 20}, rows=10, newest=True))

    assert places(first) == [(0, 0), (0, 1), (0, 2), *((1, n) for n in range(7))]
    assert places(last) == [(0, 0), (0, 1), (0, 2), *((1, n) for n in range(13, 20))]


def test_what_does_not_fit_is_left_out(
    broker: Broker, new_topic: NewTopic, sampler: SparkSampler
) -> None:
    """Goal: bounded by bytes, and one record is always shown."""
    topic, spec = new_topic(1), spec_for(broker.bootstrap)
    long = "x" * 10_000
    produce(broker.bootstrap, topic, [f'{{"t":1,"id":1,"user":"{long}"}}'] * 20)

    few = sampler.sample(order(spec, topic, {0: 20}, size_bytes=50_000))
    one = sampler.sample(order(spec, topic, {0: 20}, size_bytes=10, name="one"))

    assert places(few) == [(0, 0), (0, 1)]
    assert places(one) == [(0, 0)]


def test_markers_of_transactions_are_no_records(
    broker: Broker, new_topic: NewTopic, sampler: SparkSampler
) -> None:
    """Goal: where offsets hold few records, a wider part is read."""
    topic, spec = new_topic(1), spec_for(broker.bootstrap)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    for number in range(12):  # each second one is aborted; each has a marker
        producer.begin_transaction()
        producer.produce(topic, f'{{"t":1,"id":{number}}}')
        producer.flush(30)
        (producer.abort_transaction if number % 2 else producer.commit_transaction)(30)

    answer = sampler.sample(order(spec, topic, {0: 24}, rows=4))

    assert [r.values and r.values["id"] for r in answer.records] == [0, 2, 4, 6]


def test_samples_of_a_topic_have_any_time_each(
    broker: Broker, records_topic: str, sampler: SparkSampler
) -> None:
    """Goal: the connector keeps consumers by their group, and refuses one with other properties."""
    wanted = order(specs(broker.bootstrap)["declared"], records_topic, {0: 5, 1: 5})
    times = [timedelta(milliseconds=ms) for ms in (9_731, 9_731, 4_012, 7_000, 1_500)]

    answers = [sampler.sample(wanted.model_copy(update={"within": within})) for within in times]
    with ThreadPoolExecutor(2) as pool:
        at_once = [
            pool.submit(sampler.sample, wanted.model_copy(update=more))
            for more in ({"within": t, "sample_id": f"at-once-{n}"} for n, t in enumerate(times))
        ]
    answers += [each.result() for each in at_once]

    assert {len(answer.records) for answer in answers} == {10}


@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize(
    ("tick_s", "within_s", "found"),
    [
        pytest.param(1.0, 60.0, 5, id="time for a wider look"),
        pytest.param(1.0, 3.0, 0, id="no time for another look"),
        pytest.param(0.0, 0.501, 0, id="a wider look is cut off after a millisecond"),
    ],
)
def test_what_was_looked_at_when_time_runs_out_is_an_answer(
    broker: Broker,
    new_topic: NewTopic,
    spark: SparkRuntime,
    tmp_path: Path,
    tick_s: float,
    within_s: float,
    found: int,
    *,
    newest: bool,
) -> None:
    """Goal: a topic whose rows lie behind aborted records; the sampler's clock is the test's."""
    topic, spec = new_topic(1), spec_for(broker.bootstrap)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    for committed in (True, False) if newest else (False, True):
        producer.begin_transaction()
        for number in range(40):
            producer.produce(topic, f'{{"t":1,"id":{number}}}')
        producer.flush(30)
        (producer.commit_transaction if committed else producer.abort_transaction)(30)
    del producer  # it would go on looking for its broker
    ticks = count(step=tick_s)
    sampler = SparkSampler(
        spark,
        SparkEngine(spark, str(tmp_path), lambda _: "").jobs,
        lambda _: "",
        RegistryClient(lambda _: ""),
        monotonic=lambda: next(ticks),
    )
    wanted = order(spec, topic, {0: 82}, rows=5, newest=newest)

    answer = sampler.sample(wanted.model_copy(update={"within": timedelta(seconds=within_s)}))

    assert len(answer.records) == found


def test_brokers_that_are_gone_are_no_bug(sampler: SparkSampler) -> None:
    wanted = order(spec_for("127.0.0.1:9"), "clicks", {0: 20})

    with pytest.raises(StreamTimeout):
        sampler.sample(wanted.model_copy(update={"within": timedelta(seconds=2)}))


def test_a_sample_can_be_cancelled(records_topic: str, spark: SparkRuntime, tmp_path: Path) -> None:
    """Goal: by who cancels tasks' jobs, who knows only the engine."""
    engine = SparkEngine(spark, str(tmp_path), lambda _: "")
    sampler = SparkSampler(spark, engine.jobs, lambda _: "", RegistryClient(lambda _: ""))
    wanted = order(specs("127.0.0.1:9")["declared"], records_topic, {0: 5}, name="cancelled")
    failed: list[Exception] = []

    def run() -> None:
        try:
            sampler.sample(wanted)
        except (BatchCancelled, StreamTimeout) as error:
            failed.append(error)

    thread = start_spark_thread("sampler of a test", run)
    wait_until(lambda: engine.progress(wanted.sample_id) is not None)
    engine.cancel(wanted.sample_id)
    thread.join(60)

    assert [type(error) for error in failed] == [BatchCancelled]
