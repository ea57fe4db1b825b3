"""Which columns a table has: those that the spec declares, or the keys that records bring.

A batch that meets a new key is read again with it, so each of its rows has the value; earlier
batches had no such key, and the merge reads it as null there.
"""

import json
from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as fn

from tasks.ingest.decode import decode
from tasks.ingest.schemas import held_fields
from tasks.ingest.write import await_metric
from tasks.ingest_spec import (
    AvroFormat,
    Column,
    IngestSpec,
    JsonFormat,
    RegexFormat,
    TextFormat,
)
from tasks.row_plan import own_columns

COLUMNS_MAX = 1_000
"""A discovered table has no more columns; further keys are counted as errors of their rows."""


def columns_of(spec: IngestSpec, discovered: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a batch, in the order of its files."""
    if spec.columns:
        return tuple(column for column in spec.columns if column.name not in spec.excluded)
    return tuple(Column(name=name) for name in sorted(discovered))


def named_fields(spec: IngestSpec) -> tuple[str, ...]:
    """Return the columns that a format itself names, sorted; empty if the spec declares its own."""
    if spec.columns:
        return ()
    names: set[str] = set()
    match spec.value_format:
        case JsonFormat() as inner:
            names |= {path.name for path in inner.paths} | set(inner.roots or ())
        case TextFormat() | RegexFormat() as inner:
            names |= set(inner.columns)
        case AvroFormat(fields=fields) as inner:
            names |= {path.name for path in fields.paths}
            names |= set(held_fields(inner) if fields.roots is None else fields.roots)
    beside = spec.kafka_columns
    if beside is not None:
        names |= {name for name in (beside.timestamp, beside.topic, beside.key) if name is not None}
    return tuple(sorted(names - _never(spec)))


def known_keys(spec: IngestSpec, columns: Iterable[Column]) -> frozenset[str]:
    """Return the keys that are no news; empty if the spec declares its columns."""
    if spec.columns:
        return frozenset()
    return frozenset(_never(spec) | {column.name for column in columns})


def _never(spec: IngestSpec) -> set[str]:
    return {spec.timestamp.column, *spec.excluded, *own_columns(spec), ""}


def grown(names: Sequence[str], found: Iterable[str]) -> tuple[str, ...]:
    """Return the columns with new ones among them, sorted, up to COLUMNS_MAX; none goes."""
    new = sorted(set(found) - set(names))[: max(0, COLUMNS_MAX - len(names))]
    return tuple(sorted({*names, *new}))


def new_keys(records: DataFrame, spec: IngestSpec) -> list[str]:
    """Return the keys of records that could be columns, sorted.  Runs one job."""
    keys, observation = "keys", Observation()
    judged = decode(records, spec, (), known=known_keys(spec, ()))
    found = "to_json(array_sort(array_distinct(flatten(collect_set(unknown)))))"
    seen = judged.observe(observation, fn.expr(found).alias(keys))
    seen.write.format("noop").mode("overwrite").save()
    return list(json.loads(await_metric(observation, keys)))
