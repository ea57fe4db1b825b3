"""The metric of a batch's one pass: counts, offset bounds, rejects and a digest, beside its files.

The metric is one JSON text.  With several metrics each would cost a round trip to the JVM, and a
list of rejects would cost one round trip per record.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.contract.messages import RejectSample
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.ingest.decode.digest import hash_sql
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.spark.partition_index import numbers_of
from tasks.ingest.spark.sql import (
    AGAIN_COLUMN,
    ERROR_COLUMN,
    IS_ROW,
    KIND_COLUMN,
    MISSING_SCHEMA_COLUMN,
    REASON_COLUMN,
    UNFIT_COLUMN,
    UNKNOWN_COLUMN,
    ExtraColumns,
    distinct_sql,
)

METRIC = "observed"
"""Name of the metric that `metric_sql` defines."""

SAMPLE_CHARS = 500
"""Longest text that is kept of a rejected record, in characters."""

_HASH = "hashed"
_REASONS = 32  # a reason has five bits of a reject's number


@dataclass(frozen=True)
class Kept:
    """The number of rows of one partition, and the bounds of their offsets, inclusive."""

    rows: int
    first: int
    last: int


@dataclass(frozen=True)
class Reject:
    """One offset whose record became no row."""

    partition: TopicPartition
    offset: int
    reason: RejectReason


@dataclass(frozen=True)
class ObservedRecords:
    """The observations of one pass; `kept` has only partitions with rows."""

    records: int
    size_bytes: int
    rows_with_error: int
    kept: dict[TopicPartition, Kept]
    rejects: tuple[Reject, ...]
    """Sorted by partition and offset."""
    samples: tuple[RejectSample, ...]
    """The first and last record of each reason, with the expected value if a value is unfit."""
    unknown: tuple[str, ...]
    """Top-level keys that are not columns yet, sorted."""
    missing_schemas: tuple[int, ...] = ()
    """Numbers of schemas that have to be fetched (see `schemas`), sorted."""
    kinds: tuple[int, ...] = ()
    """Kinds of the rows' values, for each column whose kinds `decode` reports."""
    again: int = 0
    """Records whose numbers were not written as numbers, and values that were no records at all."""
    digest: int = 0
    """64 bits, signed: the combined hashes of the records (see `digest.hash_sql`)."""

    @property
    def rows(self) -> int:
        """The number of written rows."""
        return sum(kept.rows for kept in self.kept.values())


def seen_sql(
    columns: Sequence[str], start: Offsets, digested: Sequence[int] = ()
) -> tuple[str, ...]:
    """Return the SQL of the inputs of `metric_sql`, over a judged frame with these columns.

    `digested` are the numbers of the columns in the digest; each costs something per record.  Spark
    does not compile an observation with the steps before it, computes each added term twice, and
    copies each record for it.  So hashes are computed before, and the only texts are possible
    samples.
    """
    sampled = f"CASE WHEN NOT ({IS_ROW}) THEN left(s, {SAMPLE_CHARS}) END AS s"
    others = (column for column in columns if column != "s")
    return (*others, sampled, f"{hash_sql(start, digested)} AS {_HASH}")


def metric_sql(start: Offsets, extra: ExtraColumns, reasons: Sequence[RejectReason]) -> str:
    """Return the SQL of the metric over the columns of `seen_sql`, for the partitions of `start`.

    `extra` are the optional parts; `reasons` are the reasons of which samples are wanted.

    A reject is one number, to keep the text short: `((offset - start) x partitions + index) x 32
    + reason`, where index counts the partitions of `start`, sorted.
    """
    numbers = numbers_of(start)
    kept = ", ".join(
        f"struct(count(CASE WHEN {here} THEN 1 END) AS n, min(CASE WHEN {here} THEN o END) AS lo, "
        f"max(CASE WHEN {here} THEN o END) AS hi)"
        for here in (f"{IS_ROW} AND p = {number}" for number in numbers.values())
    )
    cases = " ".join(
        f"WHEN {number} THEN ((o - {start[partition]}) * {len(numbers)} + {index})"
        for index, (partition, number) in enumerate(numbers.items())
    )
    samples = ", ".join(
        f"{which}(CASE WHEN {REASON_COLUMN} = {reason.code} "
        f"THEN {_sample(reason, extra.unfit)} END)"
        for reason in reasons
        for which in ("min", "max")
    )
    return (
        "to_json(struct(count(1) AS n, coalesce(sum(size), 0) AS size, "
        f"count(CASE WHEN {IS_ROW} AND {ERROR_COLUMN} THEN 1 END) AS bad, array({kept}) AS kept, "
        f"collect_list(CASE WHEN NOT {IS_ROW} THEN (CASE p {cases} END) * {_REASONS} + "
        f"{REASON_COLUMN} END) AS rejects, array({samples}) AS samples"
        f"{extra_sql(extra)}, bit_xor({_HASH}) AS digest)) AS {METRIC}"
    )


def extra_sql(extra: ExtraColumns) -> str:
    """Return the SQL of the optional parts, over all rows; each part begins with a comma."""
    parts = {
        UNKNOWN_COLUMN: distinct_sql(UNKNOWN_COLUMN) if extra.unknown else "",
        MISSING_SCHEMA_COLUMN: distinct_sql(MISSING_SCHEMA_COLUMN) if extra.missing_schemas else "",
        "kinds": kinds_sql(extra.kinds) if extra.kinds else "",
        AGAIN_COLUMN: f"count(CASE WHEN {AGAIN_COLUMN} THEN 1 END)" if extra.again else "",
    }
    return "".join(f", {part} AS {name}" for name, part in parts.items() if part)


def _sample(reason: RejectReason, unfit: bool) -> str:
    """Return the SQL of the sample of one record; it has the same type for each reason."""
    fields = "p, o, s"
    if not unfit:
        return f"struct({fields})"
    has_detail = reason is RejectReason.UNFIT_VALUE
    detail = f"left({UNFIT_COLUMN}, {SAMPLE_CHARS})" if has_detail else "CAST(NULL AS STRING)"
    return f"struct({fields}, {detail} AS d)"


def kinds_sql(columns: int) -> str:
    """Return the SQL of an array: the kinds of the rows' values, per column that reports kinds."""
    each = (f"CASE WHEN {IS_ROW} THEN {KIND_COLUMN}{n} END" for n in range(columns))
    return f"array({', '.join(f'coalesce(bit_or({kind}), 0)' for kind in each)})"


def read_metric(metric: str, start: Offsets, reasons: Sequence[RejectReason]) -> ObservedRecords:
    """Parse the result of `metric_sql` for the same partitions and reasons."""
    observed = json.loads(metric)
    partitions = sorted(start)
    kept = {
        partition: Kept(bounds["n"], bounds["lo"], bounds["hi"])
        for partition, bounds in zip(partitions, observed["kept"], strict=True)
        if bounds["n"]
    }
    return ObservedRecords(
        records=observed["n"],
        size_bytes=observed["size"],
        rows_with_error=observed["bad"],
        kept=kept,
        rejects=tuple(_rejects(observed.get("rejects", []), partitions, start)),
        samples=tuple(_samples(observed.get("samples", []), start, reasons)),
        unknown=tuple(observed.get(UNKNOWN_COLUMN, [])),
        missing_schemas=tuple(observed.get(MISSING_SCHEMA_COLUMN, [])),
        kinds=tuple(observed.get("kinds", [])),
        again=observed.get(AGAIN_COLUMN, 0),
        digest=observed.get("digest", 0),
    )


def _rejects(
    numbers: Sequence[int], partitions: Sequence[TopicPartition], start: Offsets
) -> list[Reject]:
    reasons = list(RejectReason)
    rejects = []
    for number in numbers:
        rest, code = divmod(number, _REASONS)
        ahead, index = divmod(rest, len(partitions))
        partition = partitions[index]
        rejects.append(Reject(partition, start[partition] + ahead, reasons[code - 1]))
    return sorted(rejects, key=lambda reject: (reject.partition, reject.offset))


def _samples(
    sample_rows: Sequence[dict[str, object] | None], start: Offsets, reasons: Sequence[RejectReason]
) -> list[RejectSample]:
    partitions: dict[object, TopicPartition] = {n: p for p, n in numbers_of(start).items()}
    in_turn = [reason for reason in reasons for _ in ("first", "last")]
    samples: dict[tuple[object, object], RejectSample] = {}
    for reason, sample in zip(in_turn, sample_rows, strict=False):
        if sample:
            samples[sample["p"], sample["o"]] = RejectSample.model_validate(
                {
                    "topic": partitions[sample["p"]].topic,
                    "partition": partitions[sample["p"]].partition,
                    "offset": sample["o"],
                    "reason": reason.value,
                    "input": sample.get("s", ""),
                    "detail": sample.get("d", ""),
                }
            )
    return list(samples.values())
