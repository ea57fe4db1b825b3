"""Which fields a record has in each input format, and which records are none of that format."""

import json
from collections.abc import Callable
from typing import Literal

import pytest

from tasks.contract.ingest_spec import (
    Column,
    ColumnType,
    HeaderEncoding,
    JsonFormat,
    JsonPath,
    KafkaColumns,
    RegexFormat,
    RowSpec,
    TextFormat,
    TimestampSpec,
    Transform,
)
from tasks.spark.session import SparkRuntime
from tests.tasks.ingest.decoding import NOON, Decoded, Record, decoded

pytestmark = pytest.mark.spark

MISSING_IS_NOON = TimestampSpec(column="t", missing_value=NOON)

Line = tuple[bytes | None, str | None, tuple[object, ...]]
"""A record, why it is no row, and its columns if it is one."""


def check(
    spark: SparkRuntime, spec: RowSpec, lines: list[Line], columns: list[Column | str]
) -> None:
    rows = decoded(spark, spec, [value for value, _, _ in lines], columns)
    outcomes = [
        (value, row.reason, row.columns) for (value, _, _), row in zip(lines, rows, strict=True)
    ]
    assert outcomes == lines


CSV: list[Line] = [
    (b"1,x,2.5", None, (1, "x", "2.5")),
    (b"1,x,2.5\n", None, (1, "x", "2.5")),
    (b"1,x,2.5\r\n", None, (1, "x", "2.5")),
    (b'1,"a, ""quoted"" b",', None, (1, 'a, "quoted" b', None)),
    (b',"",', None, (None, "", None)),  # nothing is null, an empty text is one
    (b"1", None, (1, None, None)),
    (b"1,x,2.5,more,still", None, (1, "x", "2.5")),
    (b" 1 ,  x ,y", None, (1, "  x ", "y")),
    ("1,gr\u00fc\u00df \U0001f600,z".encode(), None, (1, "gr\u00fc\u00df \U0001f600", "z")),
    (b"1,back\\slash,'z'", None, (1, "back\\slash", "'z'")),
    (b"#1,x,y", None, (None, "x", "y")),  # no comment
    (b"1,a\x01b,c", None, (1, '["a","b"]', "c")),
    (b"1,x\n2,y", "not-a-line", ()),
    (b'1,"x\ny",z', "not-a-line", ()),
    (b'1,"x,z', "not-a-line", ()),  # a quote without its end
    (b'1,x"y,z', "not-a-line", ()),
    (b"1,\xff,z", "not-a-line", ()),
    (b"", "empty", ()),
    (b"  \n", "empty", ()),
    (None, "null-value", ()),
]


def test_csv_is_what_rfc_4180_says(spark: SparkRuntime) -> None:
    text = TextFormat(type="csv", columns=("a", "b", "c"), delimiter=",", list_delimiter="\x01")
    spec = RowSpec(value_format=text, timestamp=MISSING_IS_NOON)
    check(spark, spec, CSV, [Column(name="a", type="long"), "b", "c"])


TSV: list[Line] = [
    (b"1|x|2.5", None, ("1", "x", "2.5")),
    (b'1|"x|"y', None, ("1", '"x', '"y')),  # quotes mean nothing
    (b"1||y", None, ("1", None, "y")),
    (b"1|a;b;|y", None, ("1", '["a","b",""]', "y")),
    (b"1", None, ("1", None, None)),
    (b"1|2|3|4", None, ("1", "2", "3")),
    (b"|x|", None, (None, "x", None)),
    (b"a\nb", "not-a-line", ()),
    (b"", "empty", ()),
]


def test_tsv_is_plain_text_between_delimiters(spark: SparkRuntime) -> None:
    text = TextFormat(type="tsv", columns=("a", "b", "c"), delimiter="|", list_delimiter=";")
    spec = RowSpec(value_format=text, timestamp=MISSING_IS_NOON)
    check(spark, spec, TSV, ["a", "b", "c"])


REGEX: list[Line] = [
    (b"GET /a 200", None, ("GET", "/a", 200)),
    (b"GET /a 200\n", None, ("GET", "/a", 200)),
    (b"GET /a -", None, ("GET", "/a", None)),  # a group that took no part
    (b"xGET /a 200", "no-match", ()),
    (b"GET /a 200 ", "no-match", ()),
    (b"get /a 200", "no-match", ()),
    (b"GET /a 200\nGET /b 200", "not-a-line", ()),
    (None, "null-value", ()),
]


def test_a_pattern_has_to_match_the_whole_record(spark: SparkRuntime) -> None:
    regex = RegexFormat(pattern=r"([A-Z]+) (\S+) (?:(\d+)|-)", columns=("verb", "path", "status"))
    spec = RowSpec(value_format=regex, timestamp=MISSING_IS_NOON)
    check(spark, spec, REGEX, ["verb", "path", Column(name="status", type="long")])


NESTED: list[Line] = [
    (b'{"a":{"b":[1,{"c":"x"}]},"d e":7}', None, ("x", '[1,{"c":"x"}]', "7")),
    (b'{"a":{"b":[1,{"c":null}]}}', None, (None, '[1,{"c":null}]', None)),
    (b'{"a":{"b":"plain"},"d e":{"f":1}}', None, (None, "plain", '{"f":1}')),
    (b'{"a":5}', None, (None, None, None)),
    (b'{"a":{"b":[1]', "not-json", ()),
    (b"[1]", "not-an-object", ()),
]


def test_a_path_finds_what_lies_deeper_in_a_json_record(spark: SparkRuntime) -> None:
    paths = (
        JsonPath(name="deep", path="$.a.b[1].c"),
        JsonPath(name="list", path="$.a.b"),
        JsonPath(name="odd", path="$['d e']"),
    )
    spec = RowSpec(value_format=JsonFormat(paths=paths), timestamp=MISSING_IS_NOON)
    check(spark, spec, NESTED, ["deep", "list", "odd"])


def test_of_keys_at_a_path_that_are_there_twice_a_text_is_the_first_and_a_value_the_last(
    spark: SparkRuntime,
) -> None:
    """Goal: what docs/reference/differences-from-druid.md says of them."""
    paths = tuple(JsonPath(name=name, path="$.a.b") for name in ("text", "long", "json"))
    spec = RowSpec(
        value_format=JsonFormat(paths=paths),
        timestamp=MISSING_IS_NOON,
        transforms=(Transform(name="made", expression="text"),),
    )
    lines: list[Line] = [
        (b'{"a":{"b":1,"b":2}}', None, ("1", 1, "2", "2")),
        (b'{"a":{"b":1},"a":{"b":2}}', None, ("1", 1, "2", "2")),
    ]
    kinds: tuple[tuple[str, ColumnType], ...] = (("long", "long"), ("json", "json"))
    check(spark, spec, lines, ["text", *(Column(name=n, type=k) for n, k in kinds), "made"])


_ALL: list[Line] = [
    (
        b'{"items":[{"id":1},{"id":"x"},{"no":2},{"id":null},{"id":[3]},4],"tags":["a","b"]}',
        None,
        ('[1,"x",null,[3]]', '[1,"x",null,[3]]', None, '["a","b"]', ["a", "b"], None),
    ),
    (
        b'{"items":[],"m":[[1,[2]],[],5,[{"c":3}]],"tags":["[1]"]}',
        None,
        ("[]", "[]", '[1,[2],{"c":3}]', '["[1]"]', ["[1]"], ["3"]),
    ),
    (b'{"items":{"id":1},"m":[5],"tags":"a"}', None, ("?", "?", "[]", "?", "?", [])),
    (b'{"items":null,"tags":[null]}', None, ("?", "?", "?", "[null]", [None], "?")),
    (b'{"items":[{"id":1}', "not-json", ()),
]


def test_a_path_may_ask_for_all_of_a_list(spark: SparkRuntime) -> None:
    """Goal: what Jayway's JsonPath finds where there is a list, and null where there is none."""
    path_texts = {
        "ids": "$.items[*].id",
        "held": "$.items[*].id",
        "flat": "$.m[*][*]",
        "tags": "$.tags[*]",
        "each": "$.tags[*]",
        "deep": "$.m[*][*].c",
    }
    paths = tuple(JsonPath(name=name, path=path) for name, path in path_texts.items())
    spec = RowSpec(value_format=JsonFormat(paths=paths), timestamp=MISSING_IS_NOON)
    kinds: dict[str, ColumnType] = {"held": "json", "flat": "json"}
    kinds |= dict.fromkeys(("each", "deep"), "array<string>")
    columns: list[Column | str] = [Column(name=n, type=kinds.get(n, "string")) for n in path_texts]
    lines: list[Line] = [
        (value, reason, tuple(None if each == "?" else each for each in row))
        for value, reason, row in _ALL
    ]
    check(spark, spec, lines, columns)


ODD_KEYS = ("x.y", "0", "q?", "$", "[0]", "a*b", "@", 'say "x"', "ä")


@pytest.mark.parametrize("kind", ["string", "json"])
def test_a_path_of_keys_in_quotes_finds_any_key(
    spark: SparkRuntime, kind: Literal["string", "json"]
) -> None:
    """Goal: what a field of type tree, or root, becomes finds the key and nothing else.

    Source: Druid's JSONFlattenerMaker: a key finds nothing in a list.
    """
    paths = tuple(JsonPath(name=f"c{n}", path=f"$['o']['{k}']") for n, k in enumerate(ODD_KEYS))
    renamed = JsonPath(name="a", path="$['b']")
    spec = RowSpec(value_format=JsonFormat(paths=(*paths, renamed)), timestamp=MISSING_IS_NOON)
    columns: list[Column | str] = [Column(name=path.name, type=kind) for path in (*paths, renamed)]
    values = {key: f"v{n}" for n, key in enumerate(ODD_KEYS)}
    shown: Callable[[str], str] = json.dumps if kind == "json" else str
    lines: list[Line] = [
        (
            json.dumps({"o": values, "a": "own", "b": "other"}).encode(),
            None,
            (*map(shown, values.values()), shown("other")),
        ),
        (json.dumps({"o": [values], "a": "own"}).encode(), None, (None,) * (len(values) + 1)),
    ]
    check(spark, spec, lines, columns)


def test_only_the_keys_that_are_named_are_fields(spark: SparkRuntime) -> None:
    spec = RowSpec(value_format=JsonFormat(roots=("a",)), timestamp=MISSING_IS_NOON)
    lines: list[Line] = [(b'{"a":"x","b":"y"}', None, ("x", None))]
    check(spark, spec, lines, ["a", "b"])


JSON_COLUMN: list[Line] = [
    (b'{"a":{"x":[1,2.50,null]}}', None, ('{"x":[1,2.5,null]}',)),
    (b'{"a":[1,"b",true]}', None, ('[1,"b",true]',)),
    (b'{"a":"text"}', None, ('"text"',)),
    (b'{"a":7}', None, ("7",)),
    (b'{"a":2.5}', None, ("2.5",)),
    (b'{"a":null}', None, (None,)),
    (b"{}", None, (None,)),
]


def test_a_json_column_keeps_any_value_as_json(spark: SparkRuntime) -> None:
    spec = RowSpec(timestamp=MISSING_IS_NOON)
    check(spark, spec, JSON_COLUMN, [Column(name="a", type="json")])


KAFKA = KafkaColumns(
    timestamp="kafka.timestamp",
    topic="kafka.topic",
    header_prefix="h.",
    key="kafka.key",
    key_format=TextFormat(type="csv", columns=("id", "rest"), delimiter=","),
)
BESIDE = ["a", "kafka.key", "h.trace", "kafka.timestamp", "kafka.topic"]
AT_NOON = str(int(NOON.timestamp() * 1000))


def test_key_headers_time_and_topic_are_fields(spark: SparkRuntime) -> None:
    """Source: Druid's KafkaInputReader: of a key that has several lines the first one counts."""
    spec = RowSpec(
        kafka_columns=KAFKA, timestamp=TimestampSpec(column="kafka.timestamp", format="millis")
    )
    records = [
        Record(b'{"a":"x"}', key=b"7,y", headers=[("trace", b"t1"), ("other", b"")]),
        Record(b'{"a":"x"}'),
        Record(b'{"a":"x","kafka.key":"own","h.trace":3}', key=b"7", headers=[("trace", b"t1")]),
        Record(b'{"a":"x"}', headers=[("trace", b"t1"), ("trace", b"t2")]),
        Record(None, key=b"7"),  # a tombstone is a row here: its key is a field
        Record(b"{", key=b"7"),
        Record(b'{"a":"x"}', key=b"two\nlines", headers=[("trace", None)]),
        *(
            Record(b'{"a":"x"}', key=key)
            for key in (b"1,2\r\n", b"1\r\n2\n3", b"\n1", b'"\n"', b"")
        ),
    ]
    rows = decoded(spark, spec, records, BESIDE)
    assert [row.reason for row in rows] == [None] * 5 + ["not-json"] + [None] * 6
    assert [row.columns for row in rows if row.reason is None] == [
        ("x", "7", "t1", AT_NOON, "clicks"),
        ("x", None, None, AT_NOON, "clicks"),
        ("x", "own", "3", AT_NOON, "clicks"),
        ("x", None, "t2", AT_NOON, "clicks"),
        (None, "7", None, AT_NOON, "clicks"),
        *(("x", key, None, AT_NOON, "clicks") for key in ("two", "1", "1", None, None, None)),
    ]
    assert {row.time for row in rows if row.reason is None} == {NOON}


def test_a_header_goes_before_key_time_and_topic_of_its_name(spark: SparkRuntime) -> None:
    """Source: Druid's KafkaInputReader: those are put only where no header has their name."""
    beside = KafkaColumns(
        timestamp="k.time", topic="k.topic", header_prefix="k.", key="k.key", key_format=None
    )
    spec = RowSpec(
        kafka_columns=beside,
        timestamp=TimestampSpec(column="k.time", format="auto"),
        transforms=(Transform(name="more", expression='"k.time" + 1'),),
    )
    headers = [("key", b"own"), ("topic", b"mine"), ("time", b"2024-05-01")]
    records = [
        Record(b'{"a":"x"}', key=b"7", headers=headers),
        Record(b'{"a":"x","k.key":"value"}', key=b"7", headers=headers[:1]),
        Record(b'{"a":"x"}', key=b"7", headers=[("key", None), ("topic", None), ("time", None)]),
        Record(b'{"a":"x"}', key=b"7"),
    ]
    rows = decoded(spark, spec, records, ["k.key", "k.topic", "more"])
    later = str(int(AT_NOON) + 1)
    assert [row.columns for row in rows] == [
        ("own", "mine", None),  # a text and a number
        ("value", "clicks", later),
        ("7", "clicks", later),
        ("7", "clicks", later),
    ]
    assert [row.time for row in rows] == [NOON.replace(hour=0), NOON, NOON, NOON]


def test_a_record_may_be_nothing_but_what_stands_beside_its_value(spark: SparkRuntime) -> None:
    beside = KafkaColumns(timestamp="t", key="k", key_format=JsonFormat())
    spec = RowSpec(
        value_format=None,
        kafka_columns=beside,
        timestamp=TimestampSpec(column="t", format="millis"),
    )
    records = [Record(b"\xff\x00", key=b'{"id":"a","z":1}'), Record(None, key=b"no json")]
    assert decoded(spark, spec, records, ["k"]) == [
        Decoded(None, NOON, ("a",)),
        Decoded(None, NOON, (None,)),
    ]


def test_what_is_no_utf8_beside_a_value_is_replaced_and_every_reader_can_read_it(
    spark: SparkRuntime,
) -> None:
    """Source: Druid's StringHeaderFormat: bytes become a text as Java makes it of UTF-8."""
    beside = KafkaColumns(header_prefix="h.", key="k", key_format=JsonFormat())
    spec = RowSpec(kafka_columns=beside, timestamp=MISSING_IS_NOON)
    records = [
        Record(b'{"a":1}', key=b'{"id":"\xff-a"}', headers=[("x", b"\xff-1")]),
        Record(b'{"a":1}', key=b"\xff{", headers=[("x", b"\xe2\x82")]),
        Record(b'{"a":1}', key=b'{"id":"\\ud83d"}', headers=[("x", b"\xed\xa0\xbd")]),
        Record(b'{"a":1}', key=b'{"id":"\\ud83d\\ude00"}'),
    ]
    rows = decoded(spark, spec, records, ["k", "h.x"])
    assert [row.columns for row in rows] == [
        ("\ufffd-a", "\ufffd-1"),
        (None, "\ufffd"),
        (None, "\ufffd\ufffd\ufffd"),  # half a surrogate pair: no text, and three bytes of none
        ("\U0001f600", None),
    ]


@pytest.mark.parametrize(
    ("encoding", "sent", "text"),
    [
        (HeaderEncoding.ISO_8859_1, "Grüße".encode("latin-1"), "Grüße"),
        (HeaderEncoding.US_ASCII, b"Gr\xfc", "Gr\ufffd"),
        (HeaderEncoding.UTF_16, "Grüße \U0001f600".encode("utf-16"), "Grüße \U0001f600"),
        (HeaderEncoding.UTF_16BE, "Grüße".encode("utf-16-be"), "Grüße"),
        (HeaderEncoding.UTF_16LE, "Grüße".encode("utf-16-le") + b"\xff", "Grüße\ufffd"),
    ],
)
def test_headers_are_texts_of_their_encoding(
    spark: SparkRuntime, encoding: HeaderEncoding, sent: bytes, text: str
) -> None:
    """Source: Druid's docs on the kafka input format; what is none is replaced by Java."""
    beside = KafkaColumns(header_prefix="h.", header_encoding=encoding)
    spec = RowSpec(kafka_columns=beside, timestamp=MISSING_IS_NOON)
    rows = decoded(spark, spec, [Record(b'{"a":1}', headers=[("x", sent)])], ["h.x"])
    assert [row.columns for row in rows] == [(text,)]


def test_headers_that_are_no_columns_yet_are_told(spark: SparkRuntime) -> None:
    spec = RowSpec(kafka_columns=KafkaColumns(header_prefix="h."), timestamp=MISSING_IS_NOON)
    records = [
        Record(b'{"a":1,"b":2}', headers=[("x", b"1"), ("y", b"2")]),
        Record(b'{"a":1}'),
        Record(None, headers=[("z", b"")]),
    ]
    rows = decoded(spark, spec, records, ["a"], known=["a", "h.x", "t"])
    assert [sorted(row.unknown or ()) for row in rows] == [["b", "h.y"], [], ["h.z"]]
