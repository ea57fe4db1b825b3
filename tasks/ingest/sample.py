"""Samples: some records of a topic as the rows of a task; nothing is written.

a part of the topic ─► decode, the rules of a batch ─► as many as fit ─► one text, no file
  ▲      ▲                        └ a new column, a schema ──┘ read again
  └──────┴ too few: a wider part
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Timer

from py4j.protocol import Py4JError
from pydantic import JsonValue
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import Column, ColumnType, Discovery, IngestSpec, Metric
from tasks.contract.kafka_client import ReadSecret, java_properties
from tasks.contract.messages import FailureCode
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.contract.sample import DesiredSample, SampleAnswer, SampledRecord
from tasks.contract.sample_ranges import parts
from tasks.ingest.decode.columns import grown, judged, kinds_so_far
from tasks.ingest.decode.observed import extra_sql
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.schemas import SchemaBook, Schemas
from tasks.ingest.spark.failures import judge
from tasks.ingest.spark.jobs import Jobs, Run, await_metric
from tasks.ingest.spark.partition_index import numbers_of
from tasks.ingest.spark.source import read_range
from tasks.ingest.spark.sql import (
    IS_ROW,
    MISSING_SCHEMA_COLUMN,
    REASON_COLUMN,
    UNFIT_COLUMN,
    UNKNOWN_COLUMN,
    ExtraColumns,
    extra_columns_of,
)
from tasks.kafka.private_key import UnusableKey, with_open_key
from tasks.ports import BatchCancelled, SchemaSource, TaskError
from tasks.rows.discovery import ColumnKinds, columns_of, kinds_new, typed_of, unsettled
from tasks.rows.row_plan import counted_apart, measured
from tasks.spark.session import SAMPLING_POOL, SparkRuntime

INPUT_CHARS = 65_536
"""Longest text that is kept of a record."""
AT_ONCE = 2
"""Most samples that run at once."""
_METRIC = "sampled"
_GROUP = "tidegate-sample"
_POLL_TIMEOUTS = tuple(timedelta(seconds=s) for s in (10, 5, 2, 1))
"""A few fixed values, because open consumers can be reused only with the same timeout."""
_SEND_S = 0.5
"""The part of a sample's time that is reserved for sending the answer."""
_FAILURES = (PySparkException, Py4JError, OSError, UnusableKey)


@dataclass(frozen=True)
class SampleShare:
    """The part of Spark's threads that samples may have."""

    at_once: int
    """Samples that may run at once."""
    threads: int
    """Threads of each of them."""


def share_of(cores: int) -> SampleShare:
    """Return the samples' part of so many cores: of two cores or more, one is never theirs."""
    at_once = max(1, min(AT_ONCE, cores - 1))
    return SampleShare(at_once, max(1, (cores - 1) // at_once))


@dataclass(frozen=True)
class _Seen:
    """The findings of one pass over a part."""

    rows: Sequence[dict[str, JsonValue]]
    unknown: Sequence[str]
    missing_schemas: Sequence[int]
    kinds: Sequence[int]


class SparkSampler:
    """`tasks.ports.Sampler` on a worker's Spark application."""

    def __init__(
        self,
        runtime: SparkRuntime,
        jobs: Jobs,
        read_secret: ReadSecret,
        schemas: SchemaSource,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`jobs`: shared with the engine, so that its `cancel` finds samples as well.

        `monotonic`: seconds, as `time.monotonic`; what a look took decides whether another is made.
        """
        self._runtime = runtime
        self._jobs = jobs
        self._read_secret = read_secret
        self._schemas = SchemaBook(schemas)
        self._monotonic = monotonic

    @property
    def at_once(self) -> int:
        """See `tasks.ports.Sampler`."""
        return self._share().at_once

    def _share(self) -> SampleShare:
        return share_of(self._runtime.context.defaultParallelism)

    def sample(self, order: DesiredSample) -> SampleAnswer:
        """Read some records and decode them.  See `tasks.ports.Sampler`.

        Raises:
            BatchCancelled: `cancel` was called.
            StreamUnavailable: the brokers, or a registry of schemas, did not answer in time.
            TaskError: the records cannot be read.
        """
        self._check_room()
        with self._jobs.run(order.sample_id, SAMPLING_POOL) as run:
            try:
                return self._sampled(order, run)
            except _FAILURES as error:
                if run.cancelled:
                    raise BatchCancelled(run.group) from error
                raise judge(error, "sample", self._runtime.work_dir) from error

    def _check_room(self) -> None:
        """Refuse a sample while Spark still works for earlier ones, which were cancelled."""
        left = self._jobs.unended(SAMPLING_POOL)
        if len(left) >= self.at_once:
            name, seconds = max(left.items(), key=lambda item: item[1])
            raise TaskError(
                FailureCode.REFUSED,
                f"sample {name} was cancelled {seconds:.0f} s ago, and this worker still works for "
                "it: try again in a few minutes",
            )

    def _sampled(self, order: DesiredSample, run: Run) -> SampleAnswer:
        began = self._monotonic()
        held = sum(order.latest[p] - order.earliest[p] for p in order.earliest)
        first, *wider = parts(order.earliest, order.latest, order.rows, newest=order.newest)
        answer = self._part(order, *first, run)
        part_s = self._monotonic() - began
        for start, end in wider:
            left_s = order.within.total_seconds() - (self._monotonic() - began) - _SEND_S
            if 2 * len(answer.records) >= min(order.rows, held) or left_s < part_s:
                break
            part_began = self._monotonic()
            try:
                with self._cancelled_after(left_s, order.sample_id):
                    answer = self._part(order, start, end, run)
            except (BatchCancelled, *_FAILURES):
                if not run.cancelled:
                    raise
                break  # the narrower part is an answer that comes in time
            part_s = self._monotonic() - part_began
        return answer

    @contextmanager
    def _cancelled_after(self, seconds: float, sample_id: str) -> Iterator[None]:
        late = Timer(seconds, self._jobs.cancel, (sample_id,))
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()

    def _part(self, order: DesiredSample, start: Offsets, end: Offsets, run: Run) -> SampleAnswer:
        spec = order.spec
        kinds, schemas = kinds_so_far(spec, (), {}), self._schemas.begin(spec)
        while True:
            run.check()
            seen = self._seen(order, start, end, kinds, schemas=schemas)
            run.check()
            wider = kinds
            if spec.discovery is not Discovery.NOTHING:
                wider = grown(wider, kinds_new(spec, seen.unknown))
            typed = unsettled(typed_of(spec, kinds))
            wider = grown(wider, dict(zip(typed, seen.kinds, strict=True)))
            if not seen.missing_schemas and wider == kinds:
                break
            kinds = wider
            schemas = self._schemas.answered(schemas, spec, seen.missing_schemas, run.check)
        columns = columns_of(spec, kinds)
        records = tuple(_records(seen.rows, spec, columns, start))
        shown = (*columns, *(Column(name=m.name, type=_shown_type(m)) for m in spec.metrics))
        return SampleAnswer(sample_id=order.sample_id, records=records, columns=shown)

    def _seen(
        self,
        order: DesiredSample,
        start: Offsets,
        end: Offsets,
        kinds: ColumnKinds,
        *,
        schemas: Schemas,
    ) -> _Seen:
        spec = order.spec
        records = read_range(
            self._runtime.session,
            start,
            end,
            client=with_open_key(java_properties(spec.kafka, self._read_secret)),
            group_id=_GROUP,
            poll_timeout=_poll_timeout(order.within),
            beside=spec.kafka_columns is not None,
        ).coalesce(self._share().threads)
        frame, columns = judged(records, spec, kinds, schemas), columns_of(spec, kinds)
        kept = _bounded(frame, order, _ahead_sql(start, end, newest=order.newest), len(columns))
        observation = Observation()
        sample_sql = _sample_sql(extra_columns_of(frame.columns))
        seen = kept.observe(observation, fn.expr(sample_sql))
        seen.write.format("noop").mode("overwrite").save()
        return _read(await_metric(observation, _METRIC))


def _poll_timeout(within: timedelta) -> timedelta:
    """Return the time limit of one broker answer, for a sample with so much time."""
    return next((each for each in _POLL_TIMEOUTS if each <= within), _POLL_TIMEOUTS[-1])


def _ahead_sql(start: Offsets, end: Offsets, *, newest: bool) -> str:
    """Return the SQL of a record's distance from the begin of its partition's part."""
    numbers = numbers_of(start)
    cases = (
        f"WHEN {number} THEN {end[p]} - o" if newest else f"WHEN {number} THEN o - {start[p]}"
        for p, number in numbers.items()
    )
    return f"CASE p {' '.join(cases)} END"


def _bounded(frame: DataFrame, order: DesiredSample, ahead: str, columns: int) -> DataFrame:
    """Keep as many records as wanted and as fit; `s` is cut, `row` is the row as text."""
    count = columns + len(order.spec.metrics)
    shown = {n: f"c{n}" for n in range(count)}
    for text, entries in counted_apart(order.spec):
        shown[columns + text] = f"coalesce(c{columns + text}, to_json(c{columns + entries}))"
    members = "".join(f", 'c{n}', {sql}" for n, sql in shown.items())
    row = f"to_json(named_struct('t', unix_millis(t){members}), map('ignoreNullFields', 'false'))"
    written = frame.withColumns(
        {
            "s": fn.expr(f"left(s, {INPUT_CHARS})"),
            "row": fn.expr(f"CASE WHEN {IS_ROW} THEN {row} END"),
            "ahead": fn.expr(ahead),
        }
    )
    size = "coalesce(octet_length(s), 0) + coalesce(octet_length(row), 0)"
    placed = written.selectExpr(
        "*",
        "row_number() OVER (ORDER BY ahead, p) AS place",
        f"sum({size}) OVER (ORDER BY ahead, p) AS filled",
    )
    fits = f"place = 1 OR filled <= {order.size_bytes}"
    return placed.where(f"place <= {order.rows} AND ({fits})")


def _sample_sql(extra: ExtraColumns) -> str:
    """Return the SQL of the one text that a pass returns; see `_read`."""
    detail = UNFIT_COLUMN if extra.unfit else "CAST(NULL AS STRING)"
    return (
        f"to_json(struct(collect_list(struct(p, o, s, row, {REASON_COLUMN}, {detail} AS detail)) "
        f"AS rows{extra_sql(extra)})) AS {_METRIC}"
    )


def _read(metric: str) -> _Seen:
    observed = json.loads(metric)
    return _Seen(
        observed.get("rows", ()),
        observed.get(UNKNOWN_COLUMN, ()),
        observed.get(MISSING_SCHEMA_COLUMN, ()),
        observed.get("kinds", ()),
    )


def _records(
    rows: Sequence[dict[str, JsonValue]],
    spec: IngestSpec,
    columns: Sequence[Column],
    start: Offsets,
) -> Iterator[SampledRecord]:
    """Yield the records in the rows of a pass, by topic, partition and offset."""
    partitions: dict[JsonValue, TopicPartition] = {n: p for p, n in numbers_of(start).items()}
    reasons = list(RejectReason)
    names = [*(c.name for c in columns), *(metric.name for metric in spec.metrics)]
    assert len(names) <= len(columns) + len(measured(spec))
    for row in sorted(rows, key=lambda row: (partitions[row["p"]], row["o"])):
        code, row_json = row[REASON_COLUMN], row.get("row")
        assert isinstance(code, int)
        reason = reasons[code - 1] if code else None
        partition = partitions[row["p"]]
        yield SampledRecord.model_validate(
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "offset": row["o"],
                "input": row.get("s"),
                "values": None if row_json is None else _values(str(row_json), names),
                "reason": "" if reason is None else reason.value,
                "detail": str(row.get("detail") or "") if reason else "",
                "thrown_away": reason is not None and reason.thrown_away,
            }
        )


def _values(row: str, names: Sequence[str]) -> dict[str, JsonValue]:
    held = json.loads(row)
    return {"__time": held["t"]} | {name: held[f"c{n}"] for n, name in enumerate(names)}


def _shown_type(metric: Metric) -> ColumnType:
    return "string" if metric.is_sketch else metric.type
