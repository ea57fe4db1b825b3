"""What a spec says of records: formats, times, transforms, filters, as tasks are told of them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec
from tasks.contract.filters import And, Bound, IsFalse, IsTrue, Not, Selector
from tasks.contract.ingest_spec import (
    HeaderEncoding,
    JsonFormat,
    JsonPath,
    KafkaColumns,
    RegexFormat,
    TextFormat,
    Transform,
    Truncation,
)
from tests.supervisor.core.spec.spec_documents import changed, errors_of

_DATA = "/spec/dataSchema"
_IO = "/spec/ioConfig"
_FORMAT = f"{_IO}/inputFormat"
_FILTER = f"{_DATA}/transformSpec/filter"
_NINE = datetime(2024, 5, 1, 9, tzinfo=UTC)


def spec_with(pointer: str, value: object) -> SupervisorSpec:
    """Read the small spec with a change; also as GET writes it, and as it is stored."""
    read = read_spec(changed(pointer, value))
    assert read.warnings == ()
    again = read_spec(json.loads(json.dumps(read.spec.normalised())))
    assert again.spec == read.spec
    assert SupervisorSpec.from_json(read.spec.to_json()) == read.spec
    return read.spec


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"type": "json"}, JsonFormat()),
        ({"type": "json", "flattenSpec": {"useFieldDiscovery": True, "fields": []}}, JsonFormat()),
        (
            {
                "type": "json",
                "flattenSpec": {
                    "useFieldDiscovery": False,
                    "fields": [
                        "plain",
                        {"type": "root", "name": "top"},
                        {"type": "path", "name": "deep", "expr": "$.a['b c'].d[0]"},
                    ],
                },
            },
            JsonFormat(
                paths=(JsonPath(name="deep", path="$.a['b c'].d[0]"),), roots=("plain", "top")
            ),
        ),
        (
            {"type": "csv", "columns": ["a", "b"]},
            TextFormat(type="csv", columns=("a", "b"), delimiter=",", list_delimiter="\x01"),
        ),
        (
            {"type": "tsv", "columns": ["a"], "delimiter": "|", "listDelimiter": ";"},
            TextFormat(type="tsv", columns=("a",), delimiter="|", list_delimiter=";"),
        ),
        (
            {"type": "regex", "pattern": r"(\d+) (?:x|(y))", "columns": ["n", "y"]},
            RegexFormat(pattern=r"(\d+) (?:x|(y))", columns=("n", "y"), list_delimiter="\x01"),
        ),
    ],
)
def test_a_format_is_told_to_tasks(written: object, expected: object) -> None:
    rows = ingest_spec(spec_with(_FORMAT, written))
    assert (rows.value_format, rows.kafka_columns) == (expected, None)


def test_the_kafka_format_names_what_stands_beside_a_value() -> None:
    written = {
        "type": "kafka",
        "valueFormat": {"type": "json", "flattenSpec": {"fields": ["a"]}},
        "keyFormat": {"type": "tsv", "columns": ["k"]},
        "headerFormat": {"type": "string", "encoding": "ISO-8859-1"},
        "headerColumnPrefix": "h.",
        "timestampColumnName": "t",
    }
    rows = ingest_spec(spec_with(_FORMAT, written))
    assert rows.value_format == JsonFormat()
    assert rows.kafka_columns == KafkaColumns(
        timestamp="t",
        topic="kafka.topic",
        header_prefix="h.",
        header_encoding=HeaderEncoding.ISO_8859_1,
        key="kafka.key",
        key_format=TextFormat(type="tsv", columns=("k",), delimiter="\t", list_delimiter="\x01"),
    )
    bare = ingest_spec(spec_with(_FORMAT, {"type": "kafka"}))
    assert bare.value_format is None
    assert bare.kafka_columns == KafkaColumns(timestamp="kafka.timestamp", topic="kafka.topic")


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        ({"type": "csv"}, "/columns", "columns is required"),
        ({"type": "csv", "columns": []}, "/columns", "must have at least 1"),
        ({"type": "csv", "columns": ["a", "a"]}, "/columns", "a is named twice"),
        ({"type": "csv", "columns": ["a"], "delimiter": ";"}, "/delimiter", "unknown field"),
        (
            {"type": "csv", "columns": ["a"], "findColumnsFromHeader": True},
            "/findColumnsFromHeader",
            "not built yet",
        ),
        ({"type": "tsv", "columns": ["a"], "delimiter": "||"}, "/delimiter", "cannot divide"),
        ({"type": "regex", "columns": ["a"], "pattern": "(a)(b)"}, "", "has 2 groups"),
        ({"type": "regex", "columns": ["a"], "pattern": "(a"}, "", "cannot be read"),
        (
            {"type": "json", "flattenSpec": {"fields": [{"type": "jq", "name": "a"}]}},
            "/flattenSpec/fields/0/type",
            "jq is not built",
        ),
        (
            {
                "type": "json",
                "flattenSpec": {"fields": [{"type": "path", "name": "a", "expr": "$..a"}]},
            },
            "/flattenSpec/fields/0/expr",
            "cannot be followed",
        ),
        (
            {"type": "json", "flattenSpec": {"fields": [{"type": "path", "name": "a"}]}},
            "/flattenSpec/fields/0",
            "a has no expr",
        ),
        (
            {"type": "kafka", "valueFormat": {"type": "thrift"}},
            "/valueFormat/type",
            "thrift is not built yet",
        ),
        (
            {"type": "kafka", "valueFormat": {"type": "kafka"}},
            "/valueFormat/type",
            "kafka is no format of a value",
        ),
        (
            {"type": "kafka", "keyFormat": {"type": "csv", "columns": [7]}},
            "/keyFormat/columns/0",
            "must be a text",
        ),
    ],
)
def test_a_wrong_format_is_told_where_it_is_wrong(
    written: object, place: str, message: str
) -> None:
    [error] = errors_of(changed(_FORMAT, written))
    assert error.pointer == _FORMAT + place
    assert message in error.message
    assert error.message != error.hint


@pytest.mark.parametrize("written", ["micro", "nano", "ruby", "yyyy-MM-dd'T'HH:mm", "MM/dd/yyyy"])
def test_a_time_may_be_written_in_any_of_druids_ways(written: str) -> None:
    rows = ingest_spec(spec_with(f"{_DATA}/timestampSpec/format", written))
    assert rows.timestamp.format == written


@pytest.mark.parametrize("written", ["ISO", "Auto", "MILLIS", "Posix", "MICRO", "nAnO", "Ruby"])
def test_the_case_of_a_named_time_format_says_nothing(written: str) -> None:
    """Source: Druid's TimestampParser compares the names without regard to case."""
    rows = ingest_spec(spec_with(f"{_DATA}/timestampSpec/format", written))
    assert rows.timestamp.format == written.lower()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("NONE", None),
        ({"type": "none"}, None),
        (None, None),
        ("minute", Truncation(period="PT1M")),
        ("QUARTER", Truncation(period="P3M")),
        ({"type": "period", "period": "P1D", "timeZone": None}, Truncation(period="P1D")),
        (
            {"type": "period", "period": "P1D", "timeZone": "Europe/Berlin"},
            Truncation(period="P1D", time_zone="Europe/Berlin"),
        ),
        (
            {"type": "duration", "duration": 90_500},
            Truncation(period="PT90.500S", origin=datetime(1970, 1, 1, tzinfo=UTC)),
        ),
    ],
)
def test_a_query_granularity_cuts_times_down(written: object, expected: Truncation | None) -> None:
    rows = ingest_spec(spec_with(f"{_DATA}/granularitySpec/queryGranularity", written))
    assert rows.truncation == expected


def test_all_cuts_times_down_to_the_start_of_the_one_chunk() -> None:
    """Source: Druid's `AllGranularity` and `IncrementalIndex`: as early as the chunk allows."""
    whole = changed(f"{_DATA}/granularitySpec/segmentGranularity", "all")
    for written in ("all", {"type": "all"}):
        spec = read_spec(changed(f"{_DATA}/granularitySpec/queryGranularity", written, whole)).spec
        first = datetime(1, 1, 1, tzinfo=UTC)
        assert ingest_spec(spec).truncation == Truncation(period="P10000Y", origin=first)
        section = spec.data_schema.normalised()["granularitySpec"]
        assert isinstance(section, dict)
        assert section["queryGranularity"] == section["segmentGranularity"] == {"type": "all"}


def test_transforms_and_a_filter_are_told_as_they_are() -> None:
    written = {
        "transforms": [{"type": "expression", "name": "b", "expression": 'concat("a b", 1 + 2)'}],
        "filter": {
            "type": "and",
            "fields": [
                {"type": "selector", "dimension": "user", "value": "x", "extractionFn": None},
                {
                    "type": "not",
                    "field": {
                        "type": "bound",
                        "dimension": "bytes",
                        "lower": 5,
                        "ordering": "numeric",
                    },
                },
            ],
        },
    }
    rows = ingest_spec(spec_with(f"{_DATA}/transformSpec", written))
    assert rows.transforms == (Transform(name="b", expression='concat("a b", 1 + 2)'),)
    assert rows.filter == And(
        fields=(
            Selector(dimension="user", value="x"),
            Not(field=Bound(dimension="bytes", lower=5, ordering="numeric")),
        )
    )


@pytest.mark.parametrize(
    ("written", "place", "message", "hint"),
    [
        (
            {"type": "selctor", "dimension": "a"},
            "",
            "selctor is no known type",
            "did you mean selector?",
        ),
        ({"type": "isTrue"}, "", "isTrue is no known type", "did you mean istrue?"),
        ({"type": "zzz"}, "", "zzz is no known type", "use one of and, or, not, istrue"),
        ({"type": "javascript", "dimension": "a"}, "", "javascript is not built", "expression"),
        (
            {"type": "and", "fields": [{"type": "true"}, {"type": "bloom", "dimension": "a"}]},
            "/fields/1",
            "filter bloom is not built",
            "use in with the values themselves",
        ),
        (
            {"type": "search", "dimension": "a", "query": {"type": "contain", "value": "x"}},
            "/query",
            "contain is no known type",
            "did you mean contains?",
        ),
        (
            {"type": "bound", "dimension": "a", "lower": "1", "alphaNumeric": True},
            "/alphaNumeric",
            "alphaNumeric is not built yet",
            "use ordering numeric",
        ),
        ({"dimension": "a"}, "", "type is required", ""),
        ({"type": "selector"}, "/dimension", "dimension is required", ""),
        ({"type": "selector", "dimension": "a", "vlaue": 1}, "/vlaue", "not known there", ""),
        (
            {"type": "selector", "dimension": "a", "extractionFn": {"type": "lower"}},
            "/extractionFn",
            "not built yet",
            "use a transform",
        ),
        (
            {"type": "not", "field": {"type": "and", "fields": [{"type": "like", "pattern": "a"}]}},
            "/field/fields/0/dimension",
            "dimension is required",
            "",
        ),
        (
            {"type": "bound", "dimension": "a", "ordering": "alphanumeric"},
            "/ordering",
            "must be 'lexicographic', 'numeric' or 'strlen'",
            "",
        ),
    ],
)
def test_a_wrong_filter_is_told_where_it_is_wrong(
    written: object, place: str, message: str, hint: str
) -> None:
    [error] = errors_of(changed(_FILTER, written))
    assert error.pointer == _FILTER + place
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("filter_", "message"),
    [
        ({"type": "expression", "expression": "a +"}, "filter: the end is not expected"),
        ({"type": "expression", "expression": "nope(a)"}, "nope"),
        ({"type": "regex", "dimension": "a", "pattern": "("}, "cannot be read"),
        ({"type": "interval", "dimension": "__time", "intervals": ["now"]}, "is no interval"),
        (
            {"type": "equals", "column": "a", "matchValueType": "LONG", "matchValue": "x"},
            "is no number",
        ),
    ],
)
def test_a_filter_that_cannot_be_decided_is_refused(filter_: object, message: str) -> None:
    deep = {"type": "and", "fields": [{"type": "true"}, {"type": "not", "field": filter_}]}
    metric = {"type": "filtered", "filter": filter_, "aggregator": {"type": "count", "name": "n"}}
    places = (
        (_FILTER, filter_, ""),
        (_FILTER, deep, "/fields/1/field"),
        (f"{_DATA}/metricsSpec", [metric], "/0/filter"),
    )
    for pointer, written, place in places:
        [error] = errors_of(changed(pointer, written))
        assert error.pointer == pointer + place
        assert message in error.message


def test_a_filter_that_is_not_built_hides_no_other_error() -> None:
    parts = [{"type": "spatial"}, {"type": "selector"}, {"type": "inType", "column": "a"}]
    errors = errors_of(changed(_FILTER, {"type": "or", "fields": parts}))
    assert [error.pointer.removeprefix(f"{_FILTER}/fields") for error in errors] == [
        *("/0", "/2", "/1/dimension")
    ]


def test_a_filter_says_what_a_null_leaves_open() -> None:
    """Source: Druid's IsTrueDimFilter and IsFalseDimFilter, named istrue and isfalse."""
    inner = {"type": "bound", "dimension": "a", "lower": "1", "alphaNumeric": False}
    wanted = {"type": "istrue", "field": {"type": "isfalse", "field": inner}}
    assert ingest_spec(spec_with(_FILTER, wanted)).filter == IsTrue(
        field=IsFalse(field=Bound(dimension="a", lower="1"))
    )


def test_a_wrong_expression_is_told_with_its_place_and_what_was_meant() -> None:
    """Goal: an unknown function is a 400 with its name and position."""
    transform = {"type": "expression", "name": "x", "expression": "1 + concta(a, 'b')"}
    [error] = errors_of(changed(f"{_DATA}/transformSpec/transforms", [transform]))
    assert error.pointer == f"{_DATA}/transformSpec/transforms/0"
    assert "concta" in error.message
    assert "character 5" in error.message
    assert "concat" in error.hint + error.message


def test_two_transforms_of_one_name_are_refused() -> None:
    transform = {"type": "expression", "name": "x", "expression": "1"}
    [error] = errors_of(changed(f"{_DATA}/transformSpec/transforms", [transform, transform]))
    assert "x is given twice" in error.message


def test_rows_too_late_or_too_early_count_from_the_opening_of_their_range() -> None:
    document = changed(f"{_IO}/lateMessageRejectionPeriod", "PT1H")
    document = changed(f"{_IO}/earlyMessageRejectionPeriod", "PT10M", document)
    spec = read_spec(document).spec
    rows = ingest_spec(spec, _NINE)
    assert rows.not_before == _NINE - timedelta(hours=1)
    assert rows.not_after == _NINE + spec.io_config.task_duration + timedelta(minutes=10)
    assert read_spec(spec.normalised()).spec == spec


def test_a_fixed_bound_for_late_rows_holds_whenever_a_range_is_opened() -> None:
    spec = spec_with(f"{_IO}/lateMessageRejectionStartDateTime", "2024-05-01T09:00:00.123456Z")
    for rows in (ingest_spec(spec), ingest_spec(spec, _NINE + timedelta(days=9))):
        assert rows.not_before == _NINE + timedelta(microseconds=123_456)
        assert rows.not_after is None


def test_two_bounds_for_late_rows_are_refused() -> None:
    document = changed(f"{_IO}/lateMessageRejectionPeriod", "PT1H")
    document = changed(f"{_IO}/lateMessageRejectionStartDateTime", "2024-05-01", document)
    [error] = errors_of(document)
    assert "are both given" in error.message
