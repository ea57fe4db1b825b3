"""Response models of a sample: Druid's answer, and the offset of each record."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from supervisor.core.spec.sample_request import SampleRequest
from tasks.contract.ingest_spec import Column
from tasks.contract.sample import SampleAnswer, SampledRecord
from tasks.contract.wire import Wire

DEPTH_MAX = 64
"""Levels of nesting; a record with more is shown as text."""


class SampleRow(Wire):
    """One record.  `input`, `parsed`, `unparseable` and `error` are Druid's."""

    topic: str
    partition: int
    offset: int
    input: JsonValue = None
    """A JSON object as it is, any other record as {"raw": text}; null: the record has no value."""
    parsed: dict[str, JsonValue] | None = None
    """The row, with `__time` in milliseconds since the epoch; absent if the record is no row."""
    unparseable: bool = False
    """True: a bad record, and `error` has the reason; otherwise absent."""
    error: str | None = None
    reason: str | None = None
    """Code of the reason why the record is no row; also present if the spec filters it out."""


class NamedType(Wire):
    """One column of the table as queries see it."""

    name: str
    type: str
    """LONG, FLOAT, DOUBLE, STRING, COMPLEX<json>, or ARRAY<...> of these."""


class SampleView(Wire):
    """What a sample found.  Source: Druid's SamplerResponse."""

    num_rows_read: int
    num_rows_indexed: int
    """Records that became rows."""
    logical_dimensions: tuple[dict[str, JsonValue], ...]
    physical_dimensions: tuple[dict[str, JsonValue], ...]
    """Equal to `logical_dimensions`, because a column is stored with its own type."""
    logical_segment_schema: tuple[NamedType, ...]
    data: tuple[SampleRow, ...]
    """Records, sorted by topic, partition and offset."""


def sample_view(request: SampleRequest, answer: SampleAnswer) -> SampleView:
    """Return the response for a worker's answer."""
    metrics = {metric.name for metric in request.spec.data_schema.metrics_spec}
    columns = () if request.raw else answer.columns or _declared(request)
    dimensions = tuple(_dimension(c) for c in columns if c.name not in metrics)
    time = () if request.timeless or request.raw else (Column(name="__time", type="long"),)
    indexed = [record for record in answer.records if record.values is not None]
    return SampleView(
        num_rows_read=len(answer.records),
        num_rows_indexed=0 if request.raw else len(indexed),
        logical_dimensions=dimensions,
        physical_dimensions=dimensions,
        logical_segment_schema=tuple(_named(c) for c in (*time, *columns)),
        data=tuple(_row(request, record) for record in answer.records),
    )


def _declared(request: SampleRequest) -> tuple[Column, ...]:
    """Return the columns that the spec declares, for a topic without records."""
    schema = request.spec.data_schema
    contracts = (metric.contract() for metric in schema.metrics_spec)
    return (*schema.contract_columns(), *(Column(name=m.name, type=m.type) for m in contracts))


def _row(request: SampleRequest, record: SampledRecord) -> SampleRow:
    fields: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "input": _shown(record.input),
    }
    if request.raw:
        return SampleRow.model_validate(fields)
    if record.values is not None:
        hidden = {"__time"} if request.timeless else set()
        fields["parsed"] = {k: v for k, v in record.values.items() if k not in hidden}
    elif record.thrown_away:
        fields["reason"] = record.reason
    else:
        error = f"{record.reason}: {record.detail}" if record.detail else record.reason
        fields |= {"unparseable": True, "error": error, "reason": record.reason}
    return SampleRow.model_validate(fields)


def _shown(text: str | None) -> JsonValue:
    if text is None:
        return None
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()  # fails for half a surrogate pair
    except (ValueError, RecursionError):
        return {"raw": text}
    return value if isinstance(value, dict) and _depth(value) <= DEPTH_MAX else {"raw": text}


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")


def _depth(value: JsonValue) -> int:
    """Count levels of nesting without recursion, because a record may be arbitrarily deep."""
    deepest, left = 0, [(value, 1)]
    while left:
        held, depth = left.pop()
        deepest = max(deepest, depth)
        inner: Sequence[JsonValue] = ()
        if isinstance(held, dict):
            inner = list(held.values())
        elif isinstance(held, list):
            inner = held
        left += [(each, depth + 1) for each in inner]
    return deepest


def _dimension(column: Column) -> dict[str, JsonValue]:
    return {
        "type": column.type,
        "name": column.name,
        "multiValueHandling": "SORTED_ARRAY",
        "createBitmapIndex": column.type == "string",
    }


def _named(column: Column) -> NamedType:
    kind = "COMPLEX<json>" if column.type == "json" else column.type.upper()
    return NamedType(name=column.name, type=kind)
