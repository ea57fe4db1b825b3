"""Random records for a random spec, and where batches and ranges of them end.

A record knows what it is to say, so that the model reads no bytes: its fields, or why it has none.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from confluent_kafka import Producer
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.environment.brokers import create_topic
from tests.tasks.ingest.generated.draws.bytes import (
    REALS,
    WHOLE,
    as_doubles,
    avro_record,
    protobuf_record,
)
from tests.tasks.ingest.generated.draws.keys import keys
from tests.tasks.ingest.generated.draws.specs import (
    DELIMITERS,
    LINES,
    NOON,
    PASSED_ON,
    Drawn,
    Written,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ONE_MICRO = timedelta(microseconds=1)
LIST = "\x01"
"""Divides the values of a list within a line."""
EXACT = 2**53

_ONWARDS = (0, 0, 61, 3_600, 18_000, 93_600, 3_024_000, -2_718_000, 16_047_000)
"""Seconds from noon on: minutes, hours, days and a month; some of the days that clocks change."""

Fields = Mapping[str, JsonValue]


@dataclass(frozen=True)
class Sent:
    """One record of a topic."""

    value: bytes | None
    fields: Fields
    """What its value says; empty where it says nothing."""
    form: str | None
    """Why it is no record of its format; None: it is one."""
    key: bytes | None = None
    key_text: str | None = None
    """What the key says by its format."""
    header: bytes | None = None
    millis: int = 0
    """Its time in Kafka."""


@dataclass(frozen=True)
class Range:
    """What one task reads: the ends of its batches, per partition."""

    ends: tuple[tuple[int, ...], ...]
    restarted: bool
    """Another worker reads it: what the ranges before have met is not known."""


@dataclass(frozen=True)
class Case:
    """A spec, a topic for it, and one way to divide it."""

    spec: Drawn
    partitions: tuple[tuple[Sent, ...], ...]
    division: tuple[Range, ...]
    peek: int
    """How many records of the whole topic are looked at before it is read in one go."""
    part_rows: int
    """A batch of so many may become a row group as it is; if that is few, none is a segment."""

    @property
    def ends(self) -> tuple[int, ...]:
        """Where each partition ends."""
        return tuple(len(records) for records in self.partitions)


@dataclass(frozen=True)
class _Sorts:
    """What a wild field holds in the first records, and what in the later ones."""

    early: st.SearchStrategy[JsonValue]
    late: st.SearchStrategy[JsonValue]
    turn: int
    since: int
    """No record before this one has it."""
    gaps: int
    """Percent of the others that do not have it."""


_LONGS: list[JsonValue] = [0, 1, 1, 2, -7, 42, 2**40]
_DOUBLES: list[JsonValue] = [0.5, 0.5, -2.25, 3.0, 1e10, 1234567.75]
_BOOLEANS: list[JsonValue] = [True, False]
_TEXTS: list[JsonValue] = ["x", "x", "y", "", "12", "2.5", "true", "1e3", "é 日", "a,b", " 7 "]
_QUOTED: list[JsonValue] = ['say "hi"', "NaN", "1d", "-0.0", "null", "[1]"]
_NESTED: list[JsonValue] = [{"a": 1}, {"a": {"b": [1, 2.5]}, "c": "x"}, {}]
_LISTS: list[JsonValue] = [[1, 2], ["a", None], []]
_LONG_LISTS: list[JsonValue] = [[1, 2], [None, 3], [2], [True], []]
_DOUBLE_LISTS: list[JsonValue] = [[0.1], [2, 1.5], [3.0, None], [1e10, 1234567.75]]
_REALS: list[JsonValue] = [[0.1], [2.0, 1.5], [-2.25, 1e10]]
_TEXT_LISTS: list[JsonValue] = [["x", "y"], ["12", None], [1, "é 日"], ["a,b", 'say "hi"']]
_DEEP_LISTS: list[JsonValue] = [[1, {"a": 1}], [{"a": 2.5}, "x"]]
_HUGE: list[JsonValue] = [2**53 + 1, 2**63 - 1, -(2**63)]
_EDGES: list[JsonValue] = [2**63, 2**64 - 1, 1e30, -0.0, "NaN", "Infinity", "-Infinity", "1e30"]
_EDGES += ["9223372036854775807", "9223372036854775808", "-9223372036854775809"]
_EDGES += ["18446744073709551615", "9007199254740993.0"]
_LONG_EDGES: list[JsonValue] = [2**63 - 1, -(2**63)]
"""Longs that a double beside them would change."""
_SORTS: list[list[JsonValue]] = [
    _LONGS,
    _DOUBLES,
    _LONGS + _BOOLEANS,
    _TEXTS,
    _TEXTS + _QUOTED,
    _NESTED,
    [None],
    _LONGS + _DOUBLES,
    _LONGS + _TEXTS + _NESTED,
    _LONG_LISTS,
    _LONG_LISTS + _DOUBLE_LISTS,
    _LONG_LISTS + _TEXT_LISTS,
    _DOUBLE_LISTS + _TEXT_LISTS,
    _LONG_LISTS + _DEEP_LISTS,
    _LONG_LISTS + _LONGS,
]
_GROWING: list[list[list[JsonValue]]] = [
    [_LONGS, _DOUBLES],
    [_DOUBLES, _LONGS],
    [_TEXTS, _LONGS],
    [_LONG_LISTS, _DOUBLE_LISTS],
    [_LONG_LISTS, _TEXT_LISTS],
    [_DOUBLE_LISTS, _TEXT_LISTS],
    [_DOUBLE_LISTS, _DEEP_LISTS],
]
"""Of values that come later the columns' types are wider, or as wide as before."""
_BROKEN: dict[Written, list[tuple[bytes | None, str]]] = {
    "json": [
        (None, "null-value"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "not-json"),
        (b'{"t":0}}', "not-json"),
        (b'{"w":"\xff"}', "not-json"),
        (b'{"w":"\\ud83d"}', "not-json"),
        (b'{"\\ude00w":1}', "not-json"),
        (b"[1]", "not-an-object"),
        (b"12", "not-an-object"),
    ],
    "csv": [(None, "null-value"), (b"", "empty"), (b'0,"x', "not-a-line"), (b"0\n1", "not-a-line")],
    "tsv": [(None, "null-value"), (b"  \n", "empty"), (b"\xff", "not-a-line")],
    "regex": [(None, "null-value"), (b"", "empty"), (b"x", "no-match"), (b"x\ny", "not-a-line")],
    "avro": [(None, "null-value"), (b"", "empty"), (b"\xff\xff\xff", "not-avro")],
    "protobuf": [(None, "null-value"), (b"\xff", "not-protobuf"), (b"\x0a\x05a", "not-protobuf")],
}


def _wild(spec: Drawn, name: str) -> st.SearchStrategy[_Sorts]:
    huge = [] if spec.is_typed(name) else [_LONGS + _HUGE]
    sorts = [*_SORTS, *huge, _LISTS, _LISTS + _TEXTS]
    if spec.written in LINES:
        sorts = [_as_texts(sort, spec) for sort in sorts]
    elif name == REALS and spec.written in {"avro", "protobuf"}:
        sorts = [_REALS]
    elif spec.written == "protobuf" and name == WHOLE:
        sorts = [_LONGS, *huge]
    elif spec.written == "protobuf":
        sorts = [as_doubles(sort) for sort in sorts if sort not in huge]
    pairs = st.lists(st.sampled_from(sorts), min_size=2, max_size=2)
    if spec.written in {"json", "avro"} and _REALS not in sorts:
        pairs |= st.sampled_from(_GROWING)
    since, gaps = st.sampled_from([0, 0, 0, 4]), st.sampled_from([0, 20, 50])
    return st.builds(_sorts, pairs, st.integers(5, 8), since, gaps)


def _sorts(pair: list[list[JsonValue]], turn: int, since: int, gaps: int) -> _Sorts:
    early, late = map(st.sampled_from, pair)
    return _Sorts(early, late, turn, since, gaps)


def _as_texts(values: list[JsonValue], spec: Drawn) -> list[JsonValue]:
    """Return what a line can say of some values; a list stays one."""
    texts: list[JsonValue] = []
    for value in values:
        if isinstance(value, list):
            parts: list[JsonValue] = [str(part) for part in value]
            texts.append(parts if len(parts) > 1 else parts[0] if parts else None)
        elif isinstance(value, (dict, bool)):
            texts.append(json.dumps(value))
        else:
            texts.append(None if value is None else str(value))
    unwritten = {"csv": "\n", "tsv": "\t", "regex": "|"}[spec.written]
    return [
        # csv alone tells an empty text from none
        None if value == "" and spec.written != "csv" else value
        for value in texts
        if not (isinstance(value, str) and unwritten in value)
    ]


def _numbers(spec: Drawn) -> list[JsonValue]:
    decided = str([spec.filter, [m.filter for m in spec.metrics]])
    plain: list[JsonValue] = [0, 1, 2, 3, 1.5, -2.25, "7", None]
    if "'n'" in decided or "n > 1" in decided:
        return plain
    typed = any(map(spec.is_typed, ("n", *PASSED_ON)))
    return [*plain, "x", "12", *_edges(spec, typed=typed)]


def _edges(spec: Drawn, *, typed: bool) -> list[JsonValue]:
    edges = [*_EDGES, *([] if typed else _LONG_EDGES)]
    if spec.written != "avro":
        return edges
    return [float(one) if one in {2**63, 2**64 - 1} else one for one in edges]


def _plain(spec: Drawn, name: str) -> list[JsonValue]:
    plain: dict[str, list[JsonValue]] = {
        "g": ["a", "b", "c", None],
        "n": _numbers(spec),
        "v": [1, 2, -3, 50, 1.5, -1.5, "12", "many", None, True, *_summed(spec)],
        "b": [True, False, True, False, None, "true", "x", "", 1, ["true", "x"], [None, "y"], []],
        "o": [{"k": 1}, {"k": "x", "l": 2}, {"l": [1]}, {"k": {"m": 1}}, {"k": 2.5}, None],
    }
    if spec.written == "protobuf":
        return as_doubles(plain[name])
    return _as_texts(plain[name], spec) if spec.written in LINES else plain[name]


def _summed(spec: Drawn) -> list[JsonValue]:
    """Return edges of which doubles make the same sum in any order: none is far below 0."""
    edges = _edges(spec, typed=spec.is_typed("v") and "v" not in spec.excluded)
    known = [value for value in edges if value not in {-(2**63), "-9223372036854775809", 1e30}]
    return [value for value in known if value not in {"1e30", "9007199254740993.0"}] + [2.0**100]


@st.composite
def _fields(draw: st.DrawFn, spec: Drawn, sorts: Mapping[str, _Sorts], number: int) -> Fields:
    fields: dict[str, JsonValue] = {}
    for name in spec.fields:
        if name not in sorts:
            if draw(st.integers(0, 9)):
                fields[name] = draw(st.sampled_from(_plain(spec, name)))
            continue
        wild = sorts[name]
        if number >= wild.since and draw(st.integers(0, 99)) >= wild.gaps:
            fields[name] = draw(wild.late if number >= wild.turn else wild.early)
    return fields


@st.composite
def _times(draw: st.DrawFn, written: str) -> JsonValue:
    """A time as a record writes it; some are missing, some are none."""
    if draw(st.integers(0, 19)) == 19:
        return draw(st.sampled_from([None, "soon", "", "2024-13-01T00:00:00Z", "12:30", True, {}]))
    at = NOON + timedelta(seconds=draw(st.sampled_from(_ONWARDS)) - draw(st.integers(0, 3_599)))
    micros = (at - EPOCH) // ONE_MICRO
    part = draw(st.sampled_from([0, 0, 250_000, 1_000, 1]))
    if written == "auto":
        written = draw(st.sampled_from(["iso", "millis"]))
    match written:
        case "iso":
            return f"{at:%Y-%m-%dT%H:%M:%S}.{part:06d}Z"
        case "posix":
            return micros / 1_000_000 + (0.25 if part else 0)
        case "millis":
            return (micros + part) // 1_000
        case "micro":
            return micros + part
        case "nano":
            return (micros + part) * 1_000 + 999
        case _:
            return f"{at:%d/%m/%Y %H:%M}"


@st.composite
def _records(draw: st.DrawFn, spec: Drawn, sorts: Mapping[str, _Sorts], number: int) -> Sent:
    key, key_text, header, millis = None, None, None, 0
    if spec.kafka:
        key, key_text = draw(st.sampled_from(keys(spec.key_format)))
        header = draw(st.sampled_from([None, b"h1", b"7"]))
        millis = (NOON - EPOCH) // timedelta(milliseconds=1) + draw(st.integers(-9, 9)) * 999_999
    if draw(st.integers(0, 14)) == 14:
        value, form = draw(st.sampled_from(_BROKEN[spec.written]))
        # Beside its value a record has fields, too.
        no_form = spec.kafka and value is None
        return Sent(value, {}, None if no_form else form, key, key_text, header, millis)
    fields = dict(draw(_fields(spec, sorts, number)))
    if spec.time_column == "t":
        time = draw(_times(spec.time_format))
        fields["t"] = _as_texts([time], spec)[0] if spec.written in LINES else time
    names = ("t", *spec.fields)
    if spec.written == "avro":
        fields, value = avro_record(names, fields, several=spec.several)
    elif spec.written == "protobuf":
        fields, value = protobuf_record(names, fields, spec.time_format)
    else:
        value = _encoded(spec, fields)
    return Sent(value, fields, None, key, key_text, header, millis)


def _encoded(spec: Drawn, fields: Fields) -> bytes:
    if spec.written == "json":
        separators = (",", ":") if len(fields) % 2 else (", ", ": ")
        return json.dumps(dict(fields), ensure_ascii=False, separators=separators).encode()
    texts = [_line_part(spec, fields.get(name)) for name in ("t", *spec.fields)]
    return DELIMITERS[spec.written].join(texts).encode()


def _line_part(spec: Drawn, value: JsonValue) -> str:
    if value is None:
        return ""
    plain = LIST.join(map(str, value)) if isinstance(value, list) else str(value)
    if spec.written == "csv" and (not plain or any(sign in plain for sign in ',"')):
        return '"' + plain.replace('"', '""') + '"'
    return plain


@st.composite
def _divisions(draw: st.DrawFn, ends: Sequence[int]) -> tuple[Range, ...]:
    """One to three batches more than one, in one to three ranges."""
    stops = draw(st.integers(1, 3))
    # The first batch most often ends before the fields change.
    cuts = [
        sorted(draw(st.integers(1, end if number else end // 2)) for number in range(stops))
        for end in ends
    ]
    places = [*zip(*cuts, strict=True), tuple(ends)]
    ranges: list[Range] = []
    batches: list[tuple[int, ...]] = []
    for number, place in enumerate(places):
        batches.append(tuple(place))
        if number == stops or draw(st.integers(0, 2)) == 2:
            ranges.append(Range(tuple(batches), draw(st.booleans())))
            batches = []
    return tuple(ranges)


@st.composite
def cases(draw: st.DrawFn, specs: st.SearchStrategy[Drawn]) -> Case:
    """A spec, records of each sort that it could meet, and a division of them."""
    spec = draw(specs)
    sorts = {name: draw(_wild(spec, name)) for name in spec.wild}
    sizes = [draw(st.integers(6, 16)) for _ in range(draw(st.integers(1, 2)))]
    partitions = tuple(
        tuple(draw(_records(spec, sorts, number)) for number in range(size)) for size in sizes
    )
    division = draw(_divisions(sizes))
    peek, part_rows = draw(st.sampled_from([1_000, 3])), draw(st.sampled_from([1, 1, 3, 50_000]))
    if part_rows == 1:  # so that files are not of several chunks, which are rewritten
        spec = replace(spec, segment="ALL")
    return Case(spec, partitions, division, peek, part_rows)


def send(bootstrap: str, topic: str, case: Case) -> None:
    """Make a topic of a case's records; they are of the past, and it keeps them."""
    number = len(case.partitions)
    create_topic(bootstrap, topic, partitions=number, config={"retention.ms": "-1"})
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    now = (NOON - EPOCH) // timedelta(milliseconds=1)
    for partition, records in enumerate(case.partitions):
        for sent in records:
            beside: list[tuple[str, str | bytes | None]] = [("h", sent.header)]
            producer.produce(
                topic,
                sent.value,
                sent.key,
                partition=partition,
                timestamp=sent.millis or now,
                headers=beside if sent.header is not None else [],
            )
    assert producer.flush(60) == 0
