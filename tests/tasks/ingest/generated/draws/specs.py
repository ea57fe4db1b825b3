"""Random specs, as users post them: formats, times, columns, transforms, filters and metrics.

Fields of records have parts to play, so that the model knows what each may hold:

    t  the time        g  a short text        n  a number        v  what metrics are made of
    o  an object       b  a flag, or words    the wild ones: anything, and another sort of thing
                                              later in the topic
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from hypothesis import strategies as st
from pydantic import JsonValue

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from tasks.contract.ingest_spec import ColumnType, Discovery, IngestSpec
from tests.tasks.ingest.generated.draws.bytes import avro_format, protobuf_format
from tests.tasks.ingest.generated.draws.filters import Document, filters
from tests.tasks.ingest.generated.draws.keys import KEY_FORMATS
from tests.tasks.ingest.generated.draws.times import QUERIES, SEGMENTS, periods

Written = Literal["json", "csv", "tsv", "regex", "avro", "protobuf"]
LINES: frozenset[Written] = frozenset({"csv", "tsv", "regex"})
"""Formats of one line: a field is a text, and all of them are there."""

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
WILD = ("w", "w two", "größe", "late one")
PLAIN = ("g", "n", "v", "b")
DEEP = "deep"
"""Name of the field that a flattenSpec takes out of `o`."""
HEADER = "kafka.header.h"
BESIDE = ("kafka.key", "kafka.timestamp", "kafka.topic", HEADER)
PATTERN = "dd/MM/yyyy HH:mm"
TIME_FORMATS = ("iso", "posix", "millis", "micro", "nano", "auto", PATTERN)
DELIMITERS: dict[Written, str] = {"csv": ",", "tsv": "\t", "regex": "|"}

_TYPES: tuple[ColumnType, ...] = ("string", "long", "float", "double", "json")
_ARRAYS: tuple[ColumnType, ...] = ("array<long>", "array<double>", "array<string>")
_CASTS: dict[str, ColumnType] = {
    "STRING": "string",
    "LONG": "long",
    "DOUBLE": "double",
    "COMPLEX<json>": "json",
    "ARRAY<STRING>": "array<string>",
    "ARRAY<LONG>": "array<long>",
    "ARRAY<FLOAT>": "array<double>",
}


@dataclass(frozen=True)
class Dimension:
    """A listed column; of type None it has the type of its values."""

    name: str
    type: ColumnType | None
    cast: str | None = None

    def document(self) -> JsonValue:
        """As the spec writes it."""
        if self.cast is not None:
            return {"type": "auto", "name": self.name, "castToType": self.cast}
        return {"type": self.type or "auto", "name": self.name}


@dataclass(frozen=True)
class Measure:
    """A metric: what it is of, and the filter of its rows."""

    name: str
    of: str
    type: ColumnType = "long"
    field: str | None = None
    expression: str | None = None
    filter: Document | None = None

    @property
    def is_sketch(self) -> bool:
        """Whether it counts values that differ."""
        return self.of in {"distinct", "theta"}

    def document(self) -> JsonValue:
        """As the spec writes it."""
        kinds = {"count": "count", "distinct": "HLLSketchBuild", "theta": "thetaSketch"}
        kind = kinds.get(self.of, self.type + self.of.capitalize())
        held = {"fieldName": self.field, "expression": self.expression}
        plain: Document = {"type": kind, "name": self.name}
        plain |= {key: value for key, value in held.items() if value is not None}
        if self.filter is None:
            return plain
        return {"type": "filtered", "filter": self.filter, "aggregator": plain}


@dataclass(frozen=True)
class Drawn:
    """One random spec; `document` is what is posted, the rest is for the model."""

    written: Written
    several: bool
    """Records of Avro are of two schemas."""
    kafka: bool
    key_format: str | None
    """One of `KEY_FORMATS`."""
    flattened: bool
    roots: tuple[str, ...] | None
    """With `flattened`: these top-level keys only."""
    time_column: str
    time_format: str
    missing: datetime | None
    dimensions: tuple[Dimension, ...]
    discovery: Discovery
    exclusions: tuple[str, ...]
    transforms: tuple[tuple[str, str], ...]
    filter: Document | None
    query: JsonValue
    segment: JsonValue
    rollup: bool
    metrics: tuple[Measure, ...]
    not_before: datetime | None
    early: bool
    """Rows later than a day after `NOON` are thrown away."""
    rows_max: int

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that a record's value may have, but for its time."""
        return (*PLAIN, *(("o",) if self.written not in LINES else ()), *self.wild)

    @property
    def wild(self) -> tuple[str, ...]:
        """The fields that may hold anything."""
        return wild_of(self.written)

    @property
    def not_after(self) -> datetime | None:
        """The latest time of a row."""
        return NOON + timedelta(days=1) if self.early else None

    @property
    def excluded(self) -> frozenset[str]:
        """Fields that nobody discovers: the time, what is excluded, what metrics take."""
        taken = {"__time", self.time_column} | {m.name for m in self.metrics}
        taken |= {m.field for m in self.metrics if m.field is not None}
        taken |= {"v" for m in self.metrics if m.expression is not None}
        listed = {dimension.name for dimension in self.dimensions}
        return frozenset((taken - listed) | set(self.exclusions))

    def is_typed(self, name: str) -> bool:
        """Tell whether a column has the type of its values."""
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension.type is None
        return self.discovery is Discovery.TYPES

    @property
    def explicit(self) -> frozenset[str]:
        """Fields that the spec itself names: what they hold is a column's, whatever it is."""
        listed = {dimension.name for dimension in self.dimensions}
        return frozenset(listed | set(self.roots or ()) | ({DEEP} if self.flattened else set()))

    def discovers_text(self, name: str) -> bool:
        """Tell whether a column is one that records bring, of texts."""
        return self.discovery is Discovery.TEXTS and name not in self.explicit

    def spec(self, bootstrap: str, topic: str) -> IngestSpec:
        """Read the document as the overlord does."""
        return ingest_spec(read_spec(self.document(bootstrap, topic)).spec, NOON)

    def document(self, bootstrap: str, topic: str) -> Document:
        """Return what a user posts."""
        dimensions: Document = {
            "dimensions": [dimension.document() for dimension in self.dimensions],
            "dimensionExclusions": list(self.exclusions),
            "useSchemaDiscovery": self.discovery is Discovery.TYPES,
            "includeAllDimensions": self.discovery is Discovery.TEXTS,
        }
        transforms: list[JsonValue] = [
            {"type": "expression", "name": name, "expression": text}
            for name, text in self.transforms
        ]
        time: Document = {"column": self.time_column, "format": self.time_format}
        missing = None if self.missing is None else self.missing.isoformat()
        schema: Document = {
            "dataSource": "clicks",
            "timestampSpec": time | {"missingValue": missing},
            "dimensionsSpec": dimensions,
            "transformSpec": {"transforms": transforms, "filter": self.filter},
            "metricsSpec": [metric.document() for metric in self.metrics],
            "granularitySpec": {
                "segmentGranularity": self.segment,
                "queryGranularity": self.query,
                "rollup": self.rollup,
            },
        }
        late = None if self.not_before is None else self.not_before.isoformat()
        source: Document = {
            "topic": topic,
            "inputFormat": self._input_format(),
            "consumerProperties": {"bootstrap.servers": bootstrap},
            "taskDuration": "PT12H",
            "lateMessageRejectionStartDateTime": late,
            "earlyMessageRejectionPeriod": "PT12H" if self.early else None,
        }
        tuning: Document = {"type": "kafka", "maxRowsPerSegment": self.rows_max}
        whole: Document = {"dataSchema": schema, "ioConfig": source, "tuningConfig": tuning}
        return {"type": "kafka", "spec": whole}

    def _input_format(self) -> JsonValue:
        inner: Document = {"type": self.written}
        if self.written == "avro":
            inner = avro_format(("t", *self.fields), several=self.several)
        elif self.written == "protobuf":
            inner = protobuf_format(("t", *self.fields), self.time_format)
        if self.flattened:
            fields: list[JsonValue] = [{"type": "path", "name": DEEP, "expr": "$.o.k"}]
            fields += list(self.roots or ())
            inner["flattenSpec"] = {"useFieldDiscovery": self.roots is None, "fields": fields}
        elif self.written in LINES:
            inner["columns"] = ["t", *self.fields]
        if self.written == "regex":
            inner["pattern"] = r"\|".join(r"([^|]*)" for _ in ("t", *self.fields))
        if not self.kafka:
            return inner
        return {
            "type": "kafka",
            "valueFormat": inner,
            "headerFormat": {"type": "string"},
            "keyFormat": None if self.key_format is None else KEY_FORMATS[self.key_format],
        }


def wild_of(written: Written) -> tuple[str, ...]:
    """Return the names of the fields that may hold anything: Avro's are of few letters."""
    return tuple(re.sub(r"[^a-z]", "_", name) for name in WILD) if written == "avro" else WILD


TRANSFORMS = {
    "upper": "upper(g)",
    "more": "n + 1",
    "shout": "concat(g, '!')",
    "known": "nvl(g, 'none')",
    "size": "if(n > 1, 'big', 'small')",
    "hours": "__time / 3600000",
    "g": "nvl(upper(g), 'NONE')",
    "late one": "nvl(upper(g), 'NONE')",
    "__time": "__time + 3600000",
    "pair": "array(g, 'end')",
    "day": "timestamp_floor(__time, 'P1D', null, 'America/New_York')",
    "inner": "json_value(o, '$.k')",
    "id": "nvl(n, 0)",
    "once": "n * 1",
    "real": "cast(n, 'DOUBLE')",
}
"""Name -> its expression; `inner` is for nested records."""

PASSED_ON = ("id", "once", "more")
"""Transforms that may give a number of `n` as it is."""


def _measures(*, rollup: bool) -> list[Measure]:
    sketches = [
        Measure("users", "distinct", "string", "g"),
        Measure("flags", "distinct", "string", "b"),
        Measure("kinds", "theta", "string", "g"),
    ]
    return [
        *(sketches if rollup else []),
        Measure("rows", "count"),
        Measure("v", "sum", "long", "v"),
        Measure("cost", "sum", "double", "v"),
        Measure("small", "sum", "float", "v"),
        Measure("twice", "sum", "long", None, "v * 2"),
        Measure("least", "min", "long", "v"),
        Measure("most", "max", "double", "v"),
        Measure("first v", "first", "long", "v"),
        Measure("last v", "last", "double", "v"),
        Measure("first g", "first", "string", "g"),
        Measure("last g", "last", "string", "g"),
        Measure("first b", "first", "string", "b"),
        Measure("some", "any", "long", "v"),
        Measure("some g", "any", "string", "g"),
    ]


@dataclass
class _Choice:
    """What was drawn so far."""

    draw: st.DrawFn
    names: list[str] = field(default_factory=list)

    def often(self, percent: int) -> bool:
        """Whether something that happens so often does."""
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def some(self, of: list[str], most: int) -> list[str]:
        """Choose some, in any order."""
        return self.draw(st.lists(st.sampled_from(of), max_size=most, unique=True))


def _dimensions(choice: _Choice, names: list[str]) -> tuple[Dimension, ...]:
    draw, dimensions = choice.draw, []
    for name in names:
        kind = draw(st.sampled_from([*_TYPES, *_ARRAYS, "string", "auto", "auto", "auto", "cast"]))
        if kind == "auto":
            dimensions.append(Dimension(name, None))
        elif kind == "cast":
            cast = draw(st.sampled_from(sorted(_CASTS)))
            dimensions.append(Dimension(name, _CASTS[cast], cast))
        else:
            dimensions.append(Dimension(name, next(t for t in (*_TYPES, *_ARRAYS) if t == kind)))
    return tuple(dimensions)


def _metrics(choice: _Choice, *, rollup: bool, listed: list[str]) -> tuple[Measure, ...]:
    measures = [m for m in _measures(rollup=rollup) if m.name not in listed]
    metrics = []
    for one in choice.draw(
        st.lists(st.sampled_from(measures), min_size=2, max_size=5, unique=True)
    ):
        wanted = choice.draw(filters()) if choice.often(25) else None
        metrics.append(Measure(one.name, one.of, one.type, one.field, one.expression, wanted))
    return tuple(metrics)


@st.composite
def specs(draw: st.DrawFn, formats: Sequence[Written]) -> Drawn:
    """Any spec of those that the model knows, with one of these formats."""
    choice = _Choice(draw)
    written = draw(st.sampled_from(formats))
    kafka, flattened = choice.often(20), written not in LINES and choice.often(30)
    transform_names = [name for name in TRANSFORMS if written not in LINES or name != "inner"]
    transforms = choice.some(transform_names, 3) if choice.often(50) else []
    rollup = choice.often(40)
    wild = wild_of(written)
    fields = [*PLAIN, *wild, *(["o"] if written not in LINES else [])]
    fields += [DEEP] if flattened else []
    fields += list(BESIDE) if kafka else []
    named = [name for name in transforms if name not in {*fields, "__time"}]
    # Few columns of few values, and cut times: else no two rows are alike.
    listed = choice.some(["g", "n", "w", *named] if rollup else [*fields, *named], 5)
    metrics = _metrics(choice, rollup=rollup, listed=listed) if rollup or choice.often(20) else ()
    discovery = draw(st.sampled_from([Discovery.TEXTS, *[Discovery.TYPES] * 3]))
    roots = ("t", *choice.some([*PLAIN, *wild, "o"], 5)) if flattened and choice.often(40) else None
    by_kafka = kafka and choice.often(30)
    listed = [name for name in listed if not (by_kafka and name == "kafka.timestamp")]
    if listed and choice.often(70 if rollup else 25):
        discovery = Discovery.NOTHING
    return Drawn(
        written=written,
        several=choice.often(50),
        kafka=kafka,
        key_format=draw(st.sampled_from([None, *KEY_FORMATS])),
        flattened=flattened,
        roots=roots,
        time_column="kafka.timestamp" if by_kafka else "t",
        time_format="millis" if by_kafka else draw(st.sampled_from(TIME_FORMATS)),
        missing=NOON - timedelta(hours=1) if choice.often(30) else None,
        dimensions=_dimensions(choice, listed),
        discovery=discovery,
        exclusions=tuple(sorted(set(choice.some(list(wild), 1)) - set(listed))),
        transforms=tuple((name, TRANSFORMS[name]) for name in transforms),
        filter=draw(filters()) if choice.often(15) else None,
        query=draw(periods() | st.sampled_from(["NONE", *QUERIES])),
        segment=draw(periods() | st.sampled_from(SEGMENTS)),
        rollup=rollup,
        metrics=metrics,
        not_before=NOON - timedelta(minutes=30) if choice.often(8) else None,
        early=choice.often(8),
        rows_max=draw(st.sampled_from([5_000_000, 5_000_000, 4])),
    )
