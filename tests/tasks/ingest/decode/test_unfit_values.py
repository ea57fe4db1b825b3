"""Values that their columns cannot hold: a null in a row, or no row, as the spec says."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from supervisor.dev.broker import Broker
from tasks.contract.filters import Selector
from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    IngestSpec,
    Metric,
    RowSpec,
    TextFormat,
    TimestampSpec,
    Transform,
    UnfitValues,
)
from tasks.contract.messages import Counters
from tasks.contract.offsets import TopicPartition
from tasks.ingest.decode.decode import decode
from tasks.ingest.decode.observed import metric_sql
from tasks.ingest.engine import SparkEngine
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.spark.sql import ExtraColumns
from tasks.ports import JournalEntry, MergeJob
from tasks.spark.session import SparkRuntime
from tests.environment.brokers import produce
from tests.tasks.ingest.batches import batch, rejected, spec_for, table_of
from tests.tasks.ingest.decoding import NOON, decoded
from tests.tasks.ingest.merge.test_quarantine import raw_in

pytestmark = pytest.mark.spark
kafka = pytest.mark.kafka

NewTopic = Callable[[int], str]
MILLIS = int(NOON.timestamp() * 1000)
TIME = TimestampSpec(column="t", format="millis")
JUDGING = RowSpec(timestamp=TIME, unfit_values=UnfitValues.QUARANTINE)
NUMBERS = (
    Column(name="n", type="long"),
    Column(name="x", type="double"),
    Column(name="f", type="float"),
)
UNFIT = "unfit-value"


def click(**fields: object) -> bytes:
    return json.dumps({"t": MILLIS, **fields}).encode()


def reasons(
    spark: SparkRuntime,
    spec: RowSpec,
    records: Sequence[bytes],
    columns: Sequence[Column | str] = NUMBERS,
) -> list[str | None]:
    return [row.reason for row in decoded(spark, spec, records, columns)]


def test_a_record_with_a_value_that_fits_no_column_of_its_name_is_no_row(
    spark: SparkRuntime,
) -> None:
    """Goal: exactly those whose value would be a null otherwise, and no others."""
    records = [
        click(n=1, x=1.5, f=2),
        click(),
        click(n=None, x=None),
        click(n="12", x="1e3"),
        click(other="text"),
        click(n=1.5),
        click(n="twelve"),
        click(n=""),
        click(x="NaN"),
        click(f=1e300),
        click(n=[1]),
        click(n=True, x=1),
    ]
    wanted = [None, None, None, None, None, UNFIT, UNFIT, UNFIT, UNFIT, UNFIT, UNFIT, UNFIT]

    usual = decoded(spark, RowSpec(timestamp=TIME), records, NUMBERS)

    assert reasons(spark, JUDGING, records) == wanted
    assert [row.reason for row in usual] == [None] * len(records)
    assert [row.bad for row in usual] == [why is not None for why in wanted]


def test_texts_and_nested_columns_hold_whatever_comes(spark: SparkRuntime) -> None:
    columns: list[Column | str] = ["a", Column(name="b", type="json")]

    found = reasons(spark, JUDGING, [click(a=[1, {}], b="x"), click(a=1.5, b=[None])], columns)

    assert found == [None, None]


def test_a_value_of_a_line_is_judged_as_one_of_an_object(spark: SparkRuntime) -> None:
    csv = TextFormat(type="csv", columns=("t", "n", "x", "f"), delimiter=",")
    spec = JUDGING.model_copy(update={"value_format": csv})
    lines = [f"{MILLIS},{rest}".encode() for rest in ("1,2.5,3", ",,", "1", "1.5,,", "a,,", '"",,')]

    assert reasons(spark, spec, lines) == [None, None, None, UNFIT, UNFIT, UNFIT]


def test_what_the_spec_does_not_want_is_thrown_away_whatever_it_holds(
    spark: SparkRuntime,
) -> None:
    """Goal: form, time, filter and bounds come first; of what is left, values are judged."""
    spec = JUDGING.model_copy(
        update={
            "filter": Selector(dimension="keep", value="yes"),
            "not_before": NOON - timedelta(hours=1),
            "not_after": NOON + timedelta(hours=1),
        }
    )
    odd: dict[str, object] = {"n": "odd"}
    records = [
        b"{",
        json.dumps(odd).encode(),
        json.dumps(odd | {"t": "soon"}).encode(),
        click(keep="no", **odd),
        click(keep="yes", **odd).replace(str(MILLIS).encode(), b"0"),
        click(keep="yes", **odd).replace(str(MILLIS).encode(), b"9999999999999"),
        click(keep="yes", **odd),
        click(keep="yes", n=1),
    ]

    assert reasons(spark, spec, records) == [
        *("not-json", "no-timestamp", "bad-timestamp"),
        *("filtered", "before-minimum-time", "after-maximum-time"),
        *(UNFIT, None),
    ]


def test_what_a_transform_makes_is_judged_and_what_it_reads_is_not(spark: SparkRuntime) -> None:
    transforms = (
        Transform(name="n", expression="concat(a, '0')"),
        Transform(name="__time", expression="__time"),
    )
    spec = JUDGING.model_copy(update={"transforms": transforms})

    assert reasons(spark, spec, [click(a=1, n="odd"), click(a="x", n=1)]) == [None, UNFIT]


@pytest.mark.parametrize("rollup", [False, True])
def test_a_metrics_value_is_judged_where_each_row_has_its_own(
    spark: SparkRuntime, rollup: bool
) -> None:
    """Goal: with rollup it counts for nothing in the row of others, as it does unasked."""
    metrics = (
        Metric(name="sum", of="sum", type="long", field="v"),
        Metric(
            name="some",
            of="max",
            type="double",
            field="w",
            filter=Selector(dimension="keep", value="yes"),
        ),
    )
    spec = JUDGING.model_copy(update={"metrics": metrics, "rollup": rollup})
    records = [
        click(v="12", w="odd"),
        click(v="odd"),
        click(w="odd", keep="yes"),
        click(n="odd"),
    ]

    decoded_rows = decoded(spark, spec, records, NUMBERS)

    none = None if rollup else UNFIT
    assert [row.reason for row in decoded_rows] == [None, none, none, UNFIT]
    assert [row.bad for row in decoded_rows] == [False, rollup, rollup, False]


def test_nothing_is_worked_out_for_a_spec_that_does_not_ask(spark: SparkRuntime) -> None:
    """Goal: the frame and the metric of each batch are what they were."""
    schema = "p int, o long, v binary"
    records = spark.session.createDataFrame([(0, 0, bytearray(click(n="odd")))], schema)
    plans = [
        decode(records, spec, NUMBERS, known=())._jdf.queryExecution().toString()
        for spec in (RowSpec(timestamp=TIME), JUDGING)
    ]

    assert ["unfit" in plan for plan in plans] == [False, True]
    assert "concat_ws" not in plans[0]
    assert "unfit" not in metric_sql(
        {TopicPartition("clicks", 0): 0}, ExtraColumns(), list(RejectReason)
    )


def judging(spec: IngestSpec, **more: object) -> IngestSpec:
    return spec.model_copy(update={"unfit_values": UnfitValues.QUARANTINE, **more})


@kafka
def test_unfit_records_are_counted_named_sampled_and_kept_as_they_were_sent(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: as any other record that cannot be read; the sample says what was expected of what."""
    topic = new_topic(1)
    sent = [
        click(id=1, user="a"),
        click(id="one", user="b"),
        click(id=2, x="wide"),
        b"no json",
        click(id=1.5, x=[]),
        click(id=3, x=0.5),
    ]
    produce(broker.bootstrap, topic, [value.decode() for value in sent])
    columns = (Column(name="id", type="long"), Column(name="x", type="double"))
    spec = judging(spec_for(broker.bootstrap, columns=columns))

    entry = engine.read_batch(batch(spec, topic, {0: (0, 6)}))
    result = engine.merge(MergeJob(f"task-{topic}", 1, spec, (entry,)))

    size = sum(map(len, sent))
    assert entry.counters == Counters(
        processed=2,
        unparseable=4,
        processed_bytes=size,
        batches=1,
        rejected={UNFIT: 3, "not-json": 1},
    )
    assert table_of(tmp_path, entry.files)["id"].to_pylist() == [1, 3]
    assert rejected(tmp_path, entry) == [
        (0, 1, 2, UNFIT),
        (0, 3, 3, "not-json"),
        (0, 4, 4, UNFIT),
    ]
    assert [(raw[2], raw[4]) for raw in raw_in(tmp_path, entry.quarantine)] == [
        (n, sent[n]) for n in (1, 2, 3, 4)
    ]
    kept = pq.read_table(tmp_path / result.quarantine[0].path).to_pylist()
    assert [row["reason"] for row in kept] == [UNFIT, UNFIT, "not-json", UNFIT]
    assert {sample.offset: sample.detail for sample in entry.samples} == {
        1: "id: a long was expected",
        3: "",
        4: "id: a long was expected; x: a double was expected",
    }
    assert result.rejects is not None
    assert (result.rejects.records, result.rejects.quarantined) == (4, 4)


@kafka
def test_columns_that_nobody_declared_grow_and_reject_nothing(
    broker: Broker, engine: SparkEngine, new_topic: NewTopic, tmp_path: Path
) -> None:
    """Goal: a transform's as well, also in the batch that finds out that its type is too narrow."""
    topic = new_topic(1)
    values: list[object] = [1, 2.5, "x", [1], 7]
    records = [click(id=n, free=value) for n, value in enumerate(values)]
    records += [click(id="odd", free={"a": 1}, other=1)]
    produce(broker.bootstrap, topic, [value.decode() for value in records])
    columns = (Column(name="id", type="long"),)
    discovering = spec_for(broker.bootstrap, columns=columns, discovery=Discovery.TYPES)
    transforms = (Transform(name="twin", expression="free"),)
    spec = judging(discovering, transforms=transforms, typed=("twin",))
    entries: list[JournalEntry] = []
    for number, bounds in enumerate([(0, 1), (1, 6)]):
        last = entries[-1] if entries else None
        job = batch(
            spec,
            topic,
            {0: bounds},
            number=number,
            columns=last.columns if last else (),
            kinds=last.kinds if last else {},
        )
        entries.append(engine.read_batch(job))

    segments = engine.merge(MergeJob(f"task-{topic}", 1, spec, tuple(entries))).segments

    table = table_of(tmp_path, segments).sort_by("id")
    assert table["free"].to_pylist() == ["1", "2.5", '"x"', '["1"]', "7"]
    assert table["twin"].to_pylist() == table["free"].to_pylist()
    assert rejected(tmp_path, entries[1]) == [(0, 5, 5, UNFIT)]
