"""Which columns a table has: those that the spec declares, and the keys that records bring.

A batch that meets a new key, or a value that its column's type cannot hold, is read again with
it, so each of its rows has the value; earlier batches had no such key or value: the merge reads
the one as null there, and the other in the wider type.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as fn

from tasks.contract.ingest_spec import (
    Column,
    Discovery,
    IngestSpec,
)
from tasks.ingest.decode.decode import decode
from tasks.ingest.decode.observed import kinds_sql
from tasks.ingest.formats.schemas import NO_SCHEMAS, Schemas
from tasks.ingest.formats.table import reader_of
from tasks.ingest.spark.jobs import await_metric
from tasks.ingest.spark.sql import UNKNOWN_COLUMN, distinct_sql
from tasks.ports import JournalEntry
from tasks.rows.discovery import (
    ColumnKinds,
    columns_of,
    is_typed,
    kinds_met,
    kinds_new,
    together,
    typed_of,
)
from tasks.rows.row_plan import is_reserved, measured

_SPECS_MAX = 100
COLUMNS_MAX = 1_000
"""A discovered table has no more columns; further keys are counted as errors of their rows."""


def kinds_so_far(spec: IngestSpec, names: Iterable[str], kinds: Mapping[str, int]) -> ColumnKinds:
    """Return what earlier batches of a range have met, and the columns that a format names."""
    return kinds_met(spec, {*names, *spec.typed, *_named_fields(spec)} - set(spec.excluded), kinds)


class ColumnBook:
    """What batches of one worker have found, per spec; safe to call from many threads.

    A range begins with what the one before it has found, so that its first batch is written once.
    What it does not need does no harm: a type holds what a narrower one does, and a column
    without a value is null.
    """

    def __init__(self) -> None:
        """Begin with an empty book."""
        self._found: dict[str, ColumnKinds] = {}
        self._lock = Lock()

    def begin(self, spec: IngestSpec) -> ColumnKinds:
        """Return what was found by now."""
        with self._lock:
            return dict(self._found.get(spec_key(spec), {}))

    def learn(self, spec: IngestSpec, column_kinds: ColumnKinds) -> None:
        """Add what a batch has found."""
        key = spec_key(spec)
        with self._lock:
            known = self._found.pop(key, {})
            self._found[key] = grown(
                known, column_kinds
            )  # the one that was used last is the last one
            for old in list(self._found)[:-_SPECS_MAX]:
                del self._found[old]


def spec_key(spec: IngestSpec) -> str:
    """Return what makes columns comparable; a range's bounds of time are its own."""
    return spec.model_copy(update={"not_before": None, "not_after": None}).to_json()


def columns_in(spec: IngestSpec, entries: Iterable[JournalEntry]) -> tuple[Column, ...]:
    """Return the columns of the files of journaled batches."""
    return columns_of(spec, together(kinds_met(spec, e.columns, e.kinds) for e in entries))


def digested(spec: IngestSpec, column_kinds: ColumnKinds) -> tuple[int, ...]:
    """Return the numbers of a batch's columns that do not depend on what else it has met.

    All but the discovered ones: declared columns come first, what metrics need comes last.
    """
    columns = len(columns_of(spec, column_kinds))
    declared = len(columns_of(spec, {}))
    return (*range(declared), *range(columns, columns + len(measured(spec))))


def fits(columns: Sequence[Column], whole: Iterable[Column]) -> bool:
    """Tell whether columns are some of others, with the same types."""
    return set(columns) <= set(whole)


def _named_fields(spec: IngestSpec) -> set[str]:
    """Return the columns that a format itself names; none if nothing is discovered."""
    if spec.discovery is Discovery.NOTHING:
        return set()
    names: set[str] = set()
    if spec.value_format is not None:
        flat = spec.discovery is Discovery.TEXTS
        names |= reader_of(spec.value_format).named_fields(flat=flat)
    beside = spec.kafka_columns
    if beside is not None:
        names |= {name for name in (beside.timestamp, beside.topic, beside.key) if name is not None}
    return {name for name in names - _never(spec) if not is_reserved(name)}


def known_keys(spec: IngestSpec, names: Iterable[str]) -> frozenset[str]:
    """Return the keys that are no news; empty if nothing is discovered.

    Reserved names are news: a record with such a field loses what it holds, which is counted.
    """
    if spec.discovery is Discovery.NOTHING:
        return frozenset()
    return frozenset(_never(spec) | set(names))


def hidden_keys(spec: IngestSpec, names: Iterable[str]) -> frozenset[str]:
    """Return the discovered columns that a transform of the same name makes.

    A row has them if its record has such a field: whether a batch knows the column from other
    records must not decide.  Fields that a format names are in every record.
    """
    computed = {transform.name for transform in spec.transforms}
    return frozenset((computed & set(names)) - _never(spec) - set(spec.typed) - _named_fields(spec))


def flat_keys(spec: IngestSpec, names: Iterable[str]) -> frozenset[str] | None:
    """Return the columns that were discovered as texts; None if no column is.

    What they may hold, and what makes a key news, are flat values alone, as in Druid.
    """
    if spec.discovery is not Discovery.TEXTS:
        return None
    return frozenset(name for name in names if not is_typed(spec, name))


def _never(spec: IngestSpec) -> set[str]:
    """Return the keys that are never discovered: the time, what is declared or excluded."""
    declared = (column.name for column in spec.columns)
    metrics = (metric.name for metric in spec.metrics)
    return {spec.timestamp.column, *declared, *spec.excluded, *metrics}


def grown(column_kinds: ColumnKinds, new: Mapping[str, int]) -> ColumnKinds:
    """Return what was found with what is new, sorted, up to COLUMNS_MAX names; none goes.

    No reserved name comes in; one that is there already is of a worker that did not reserve it.
    """
    room = max(0, COLUMNS_MAX - len(column_kinds))
    taken = sorted(name for name in set(new) - set(column_kinds) if not is_reserved(name))[:room]
    held = {name: kinds for name, kinds in new.items() if name in column_kinds or name in taken}
    return dict(sorted(together([column_kinds, held]).items()))


def judged(
    records: DataFrame,
    spec: IngestSpec,
    column_kinds: ColumnKinds,
    schemas: Schemas = NO_SCHEMAS,
    *,
    straight: bool = True,
) -> DataFrame:
    """Return `decode`'s frame of records, with the columns of what was found."""
    return decode(
        records,
        spec,
        columns_of(spec, column_kinds),
        known=known_keys(spec, column_kinds),
        schemas=schemas,
        kinds=typed_of(spec, column_kinds),
        hidden=hidden_keys(spec, column_kinds),
        flat=flat_keys(spec, column_kinds),
        straight=straight,
    )


def peeked(records: DataFrame, spec: IngestSpec) -> ColumnKinds:
    """Return what records hold that could be columns.  Runs one job, two where types are found."""
    keys = "keys"
    known = known_keys(spec, ())
    frame = decode(records, spec, (), known=known, flat=flat_keys(spec, ()))
    names = f"to_json({distinct_sql(UNKNOWN_COLUMN)})"
    fresh: list[str] = json.loads(_observed(frame, names, keys)) if known else []
    kinds = grown(kinds_new(spec, spec.typed), kinds_new(spec, fresh))
    typed = typed_of(spec, kinds)
    if not typed:
        return kinds
    hidden = hidden_keys(spec, kinds)
    frame = decode(records, spec, (), known=known_keys(spec, kinds), kinds=typed, hidden=hidden)
    metric = _observed(frame, f"to_json({kinds_sql(len(typed))})", keys)
    return kinds | dict(zip(typed, json.loads(metric), strict=True))


def _observed(frame: DataFrame, values: str, metric: str) -> str:
    observation = Observation()
    seen = frame.observe(observation, fn.expr(values).alias(metric))
    seen.write.format("noop").mode("overwrite").save()
    return await_metric(observation, metric)
