"""Specs with Druid's older `parser`: read as what took its place, and told of where they stand."""

import copy
from collections.abc import Mapping

import pytest
from jsonschema import Draft202012Validator

from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.reader import read_spec
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, errors_of, flat

_SCHEMA = Draft202012Validator(spec_schema())
_DATA = "/spec/dataSchema"
_PARSER = f"{_DATA}/parser"
_TIME = {"column": "ts", "format": "iso"}
_COLUMNS = {"dimensions": ["user", {"type": "long", "name": "bytes"}]}
_RECORD = {"type": "record", "name": "r", "fields": [{"name": "user", "type": "string"}]}
_AVRO = {"type": "schema_inline", "schema": _RECORD}
_MESSAGE = {"type": "schema_registry", "url": "http://registry:8081"}
_JSON: dict[str, object] = {
    "type": "string",
    "parseSpec": {"format": "json", "timestampSpec": _TIME, "dimensionsSpec": _COLUMNS},
}


def _newer(form: Mapping[str, object]) -> dict[str, object]:
    """A spec of today's form that reads the same columns by an input format."""
    document = changed(f"{_DATA}/timestampSpec", _TIME)
    document = changed(f"{_DATA}/dimensionsSpec", _COLUMNS, document)
    return changed("/spec/ioConfig/inputFormat", form, document)


def _older(parser: object) -> dict[str, object]:
    document = created()
    for removed in (
        f"{_DATA}/timestampSpec",
        f"{_DATA}/dimensionsSpec",
        "/spec/ioConfig/inputFormat",
    ):
        document = changed(removed, REMOVED, document)
    return changed(_PARSER, parser, document)


def _parsed(kind: str | None, form: str, *beside: object, **within: object) -> dict[str, object]:
    """A parser, with fields beside its parseSpec and within it."""
    parse = {"format": form, "timestampSpec": _TIME, "dimensionsSpec": _COLUMNS} | within
    parser: dict[str, object] = {} if kind is None else {"type": kind}
    for each in beside:
        assert isinstance(each, dict)
        parser |= each
    return parser | {"parseSpec": parse}


_FLATTEN = {"useFieldDiscovery": False, "fields": ["user", "bytes"]}
_ALIKE: list[tuple[dict[str, object], dict[str, object]]] = [
    (_parsed("string", "json"), {"type": "json"}),
    (_parsed(None, "json"), {"type": "json"}),
    (_parsed("string", "json", {"encoding": "UTF-8"}), {"type": "json"}),
    (_parsed("string", "json", {"encoding": None}), {"type": "json"}),
    (
        _parsed("string", "json", flattenSpec=_FLATTEN),
        {"type": "json", "flattenSpec": _FLATTEN},
    ),
    (
        _parsed("string", "csv", columns=["ts", "user", "bytes"], hasHeaderRow=False),
        {"type": "csv", "columns": ["ts", "user", "bytes"]},
    ),
    (
        _parsed("string", "tsv", columns=["ts", "user", "bytes"], delimiter="|", listDelimiter=";"),
        {"type": "tsv", "columns": ["ts", "user", "bytes"], "delimiter": "|", "listDelimiter": ";"},
    ),
    (
        _parsed("string", "regex", columns=["ts", "user"], pattern="(.*) (.*)"),
        {"type": "regex", "columns": ["ts", "user"], "pattern": "(.*) (.*)"},
    ),
    (
        _parsed("avro_stream", "avro", {"avroBytesDecoder": _AVRO}, flattenSpec=_FLATTEN),
        {"type": "avro_stream", "avroBytesDecoder": _AVRO, "flattenSpec": _FLATTEN},
    ),
    (
        _parsed("avro_stream", "timeAndDims", {"avroBytesDecoder": _AVRO, "binaryAsString": True}),
        {"type": "avro_stream", "avroBytesDecoder": _AVRO, "binaryAsString": True},
    ),
    (
        _parsed("protobuf", "json", {"protoBytesDecoder": _MESSAGE}),
        {"type": "protobuf", "protoBytesDecoder": _MESSAGE},
    ),
]


@pytest.mark.parametrize(("parser", "form"), _ALIKE)
@pytest.mark.parametrize("shape", [copy.deepcopy, flat], ids=["nested", "flat"])
def test_a_parser_is_read_as_what_took_its_place(
    parser: dict[str, object], form: dict[str, object], shape: object
) -> None:
    assert callable(shape)
    document = shape(_older(parser))

    read = read_spec(document)

    assert read.spec == read_spec(_newer(form)).spec
    [warning] = read.warnings
    assert "parser is Druid's older form" in warning
    assert "parser" not in str(read.spec.normalised())
    _SCHEMA.validate(document)


def test_a_parser_of_null_says_nothing() -> None:
    """Goal: a running Druid writes it so."""
    assert read_spec(changed(_PARSER, None)) == read_spec(created())


_PARSE = f"{_PARSER}/parseSpec"
_BAD: list[tuple[object, str, str, str]] = [
    ("json", _PARSER, "must be an object", "inputFormat"),
    ({"type": "string"}, _PARSE, "must be an object", "inputFormat"),
    (_parsed("thrift", "json"), f"{_PARSER}/type", "parser thrift is not built", "avro_stream"),
    (_parsed("string", "jsn"), f"{_PARSE}/format", "jsn is not built for string", "json?"),
    (_parsed("string", "avro"), f"{_PARSE}/format", "avro is not built for string", "use one of"),
    ({"parseSpec": {"timestampSpec": _TIME}}, f"{_PARSE}/format", "format is required", "json"),
    (
        _parsed("string", "json", {"encoding": "UTF-16"}),
        f"{_PARSER}/encoding",
        "records are read as UTF-8",
        "leave it out",
    ),
    (
        _parsed("protobuf", "json", {"descriptor": "file:///tmp/x.desc"}),
        f"{_PARSER}/descriptor",
        "no file or URL that a spec names is ever opened",
        "protoBytesDecoder",
    ),
    (
        _parsed("string", "json", timestampSpec={"column": "ts", "format": "is"}),
        f"{_PARSE}/timestampSpec/format",
        "is",
        "",
    ),
    (_parsed("string", "json", timestampSpec=None), f"{_PARSE}/timestampSpec", "is required", ""),
    (
        _parsed("string", "json", dimensionsSpec={"dimensionsExclusions": []}),
        f"{_PARSE}/dimensionsSpec/dimensionsExclusions",
        "unknown field",
        "did you mean dimensionExclusions?",
    ),
    (
        _parsed("string", "json", flattenSpec={"fields": [{"type": "path", "name": "a"}]}),
        f"{_PARSE}/flattenSpec/fields/0",
        "has no expr",
        "",
    ),
    (_parsed("string", "json", flatenSpec={}), f"{_PARSE}/flatenSpec", "unknown", "flattenSpec?"),
    (_parsed("string", "json", {"kind": 1}), f"{_PARSER}/kind", "unknown field kind", ""),
    (_parsed("string", "csv"), f"{_PARSE}/columns", "columns is required", ""),
    (
        _parsed("avro_stream", "avro", {"avroBytesDecoder": {"type": "schema_inlin"}}),
        f"{_PARSER}/avroBytesDecoder/type",
        "no way to find a schema",
        "schema_inline",
    ),
]


@pytest.mark.parametrize(("parser", "pointer", "message", "hint"), _BAD)
def test_what_is_wrong_in_a_parser_is_told_where_it_stands(
    parser: object, pointer: str, message: str, hint: str
) -> None:
    [error] = errors_of(_older(parser))

    assert error.pointer == pointer
    assert message in error.message
    assert hint in error.hint


def test_what_else_is_wrong_is_told_at_once() -> None:
    parser = _parsed("thrift", "json", timestampSpec={"colum": "ts"})
    document = changed("/spec/ioConfig/taskCount", 0, _older(parser))

    assert {error.pointer for error in errors_of(document)} == {
        f"{_PARSER}/type",
        f"{_PARSE}/timestampSpec/colum",
        "/spec/ioConfig/taskCount",
    }


@pytest.mark.parametrize(
    "name", [f"{_DATA}/timestampSpec", f"{_DATA}/dimensionsSpec", "/spec/ioConfig/inputFormat"]
)
def test_both_forms_at_once_are_refused(name: str) -> None:
    given = {"type": "json"} if name.endswith("inputFormat") else {}
    [error] = errors_of(changed(name, given, _older(_JSON)))

    assert error.pointer == name
    assert "a parser as well" in error.message


def test_a_parser_without_an_io_config_is_told_of_that_alone() -> None:
    errors = errors_of(changed("/spec/ioConfig", REMOVED, _older(_JSON)))

    assert [error.pointer for error in errors] == ["/spec/ioConfig"]
