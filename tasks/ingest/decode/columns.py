"""Columns of a table: declared ones of the spec, and discovered ones from the keys of records.

A batch that meets a new key, or a value too wide for its column's type, is read again with the new
column or type, so each of its rows has the value.  Earlier batches had no such key or value.  The
merge reads a new column as null there, and their narrower values in the wider type.
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
"""Most columns of a discovered table; a further key counts as an error of its row."""


def kinds_so_far(spec: IngestSpec, names: Iterable[str], kinds: Mapping[str, int]) -> ColumnKinds:
    """Return the columns and kinds that earlier batches have met, or that a format names."""
    return kinds_met(spec, {*names, *spec.typed, *_named_fields(spec)} - set(spec.excluded), kinds)


class ColumnBook:
    """Columns that batches of one worker have found, per spec; safe to call from many threads.

    A range begins with the columns of the range before it, so that its first batch is written once.
    Superfluous columns do no harm: a type holds the values of a narrower type, and a column without
    a value is null.
    """

    def __init__(self) -> None:
        self._found: dict[str, ColumnKinds] = {}
        self._lock = Lock()

    def begin(self, spec: IngestSpec) -> ColumnKinds:
        """Return the columns found so far."""
        with self._lock:
            return dict(self._found.get(spec_key(spec), {}))

    def learn(self, spec: IngestSpec, column_kinds: ColumnKinds) -> None:
        """Add the columns that a batch has found."""
        key = spec_key(spec)
        with self._lock:
            known = self._found.pop(key, {})
            self._found[key] = grown(known, column_kinds)  # keep the order of use: the newest last
            for old in list(self._found)[:-_SPECS_MAX]:
                del self._found[old]


def spec_key(spec: IngestSpec) -> str:
    """Return the part of a spec that decides its columns; its time bounds are no part of it."""
    return spec.model_copy(update={"not_before": None, "not_after": None}).to_json()


def columns_in(spec: IngestSpec, entries: Iterable[JournalEntry]) -> tuple[Column, ...]:
    """Return the columns of the files of journaled batches."""
    return columns_of(spec, together(kinds_met(spec, e.columns, e.kinds) for e in entries))


def digested(spec: IngestSpec, column_kinds: ColumnKinds) -> tuple[int, ...]:
    """Return the numbers of the columns that do not depend on the other records of the batch.

    These are all but the discovered columns: declared columns come first, metric columns last.
    """
    columns = len(columns_of(spec, column_kinds))
    declared = len(columns_of(spec, {}))
    return (*range(declared), *range(columns, columns + len(measured(spec))))


def fits(columns: Sequence[Column], whole: Iterable[Column]) -> bool:
    """Return whether `columns` are some of `whole`, with the same types."""
    return set(columns) <= set(whole)


def _named_fields(spec: IngestSpec) -> set[str]:
    """Return the columns that a format itself names; none if discovery is off."""
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
    """Return the keys that are not new; empty if discovery is off.

    Reserved names count as new: a record with such a field loses its value, which is counted.
    """
    if spec.discovery is Discovery.NOTHING:
        return frozenset()
    return frozenset(_never(spec) | set(names))


def hidden_keys(spec: IngestSpec, names: Iterable[str]) -> frozenset[str]:
    """Return the discovered columns that a transform of the same name computes.

    A row has such a column if its record has a field of that name.  It must not matter whether the
    batch knows the column from other records.  Fields that a format names are in every record.
    """
    computed = {transform.name for transform in spec.transforms}
    return frozenset((computed & set(names)) - _never(spec) - set(spec.typed) - _named_fields(spec))


def flat_keys(spec: IngestSpec, names: Iterable[str]) -> frozenset[str] | None:
    """Return the columns that were discovered as texts; None if there are none.

    As in Druid, only flat values count: as a column's values, and as a reason to call a key new.
    """
    if spec.discovery is not Discovery.TEXTS:
        return None
    return frozenset(name for name in names if not is_typed(spec, name))


def _never(spec: IngestSpec) -> set[str]:
    """Return the keys that are never discovered: the time, declared and excluded columns."""
    declared = (column.name for column in spec.columns)
    metrics = (metric.name for metric in spec.metrics)
    return {spec.timestamp.column, *declared, *spec.excluded, *metrics}


def grown(column_kinds: ColumnKinds, new: Mapping[str, int]) -> ColumnKinds:
    """Return the columns with the new ones added, sorted, up to COLUMNS_MAX names; none is removed.

    No reserved name is added; a reserved name among the old ones comes from an older worker.
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
    """Return `decode`'s frame of records, with the discovered columns."""
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
    """Return the possible columns of records.  Runs one job, two if types are discovered."""
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
