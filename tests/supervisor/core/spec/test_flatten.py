"""Where the fields of a record lie: what Druid's kinds of a flattenSpec's fields become."""

import json

import pytest

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import ingest_spec
from tasks.contract.ingest_spec import AvroFormat, JsonFormat, JsonPath, ProtobufFormat, ValueFormat
from tests.supervisor.core.spec.spec_documents import changed, errors_of

_FORMAT = "/spec/ioConfig/inputFormat"
_RECORD = {"type": "record", "name": "click", "fields": [{"name": "a", "type": "long"}]}
NAMED = [
    {"type": "json"},
    {"type": "avro_stream", "avroBytesDecoder": {"type": "schema_inline", "schema": _RECORD}},
    {
        "type": "protobuf",
        "protoBytesDecoder": {"type": "schema_registry", "url": "http://registry:8081"},
    },
]


def ingested_fields(written: dict[str, object], field: object, *, discovery: bool) -> JsonFormat:
    """Return the fields that tasks are told; also of the spec as GET writes it."""
    flatten = {"useFieldDiscovery": discovery, "fields": [field]}
    read = read_spec(changed(_FORMAT, written | {"flattenSpec": flatten}))
    assert read.warnings == ()
    assert read_spec(json.loads(json.dumps(read.spec.normalised()))).spec == read.spec
    return _fields_of(ingest_spec(read.spec).value_format)


def _fields_of(value_format: ValueFormat | None) -> JsonFormat:
    if isinstance(value_format, AvroFormat | ProtobufFormat):
        return value_format.fields
    assert isinstance(value_format, JsonFormat)
    return value_format


def lies_at(path: str) -> JsonFormat:
    return JsonFormat(paths=(JsonPath(name="a", path=path),))


@pytest.mark.parametrize("written", NAMED, ids=lambda written: str(written["type"]))
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"type": "tree", "nodes": ["user", "id"]}, lies_at("$['user']['id']")),
        ({"type": "tree", "nodes": ["a b", "0", "x.y"]}, lies_at("$['a b']['0']['x.y']")),
        ({"type": "tree", "nodes": ["a"], "expr": None}, JsonFormat()),
        ({"type": "root", "expr": "user.id"}, lies_at("$['user.id']")),
        ({"type": "root", "expr": "a", "nodes": None}, JsonFormat()),
        ({"type": "root", "nodes": []}, JsonFormat()),
        ({"type": "path", "expr": "$.user.id"}, lies_at("$.user.id")),
        ({"type": "path", "expr": "user.id"}, lies_at("$.user.id")),
        ({"type": "path", "expr": "$.@time.id"}, lies_at("$['@time'].id")),
        ({"type": "path", "expr": '$["a b"].["c"]'}, lies_at("$['a b']['c']")),
        ({"type": "path", "expr": "$.a.['b'].[0]"}, lies_at("$.a['b'][0]")),
        ({"type": "path", "expr": "$.items[*].id"}, lies_at("$.items[*].id")),
        ({"type": "path", "expr": "$.a.[*]['[*]'][*]"}, lies_at("$.a[*]['[*]'][*]")),
    ],
)
def test_a_field_lies_where_its_keys_say(
    written: dict[str, object], field: dict[str, object], expected: JsonFormat
) -> None:
    """Source: Druid's JSONPathFieldSpec: a root's expr is its name unless given."""
    named = field | {"name": "a"}
    assert ingested_fields(written, named, discovery=True) == expected
    roots = () if expected.paths else ("a",)
    assert ingested_fields(written, named, discovery=False) == expected.model_copy(
        update={"roots": roots}
    )


@pytest.mark.parametrize(
    ("field", "place", "message", "hint"),
    [
        ({"type": "tree"}, "", "a has no nodes", '["user", "id"]'),
        ({"type": "tree", "nodes": []}, "", "a has no nodes", '["user", "id"]'),
        ({"type": "tree", "nodes": ["x", "it's"]}, "/nodes/1", "cannot be followed", "quote"),
        ({"type": "tree", "nodes": ["*"]}, "/nodes/0", "cannot be followed", "not be empty or *"),
        ({"type": "tree", "nodes": [""]}, "/nodes/0", "cannot be followed", "not be empty"),
        ({"type": "tree", "nodes": [1]}, "/nodes/0", "must be a text", ""),
        ({"type": "tree", "nodes": ["x"] * 51}, "/nodes", "at most 50", ""),
        ({"type": "tree", "nodes": ["x"], "expr": "y"}, "", "takes no expr", "use type path"),
        ({"type": "root", "nodes": ["x"]}, "", "takes no nodes", "use type tree"),
        ({"type": "root", "expr": "it's"}, "/expr", "cannot be followed", "quote"),
        ({"type": "path", "expr": "$.a", "nodes": ["x"]}, "", "takes no nodes", "use type tree"),
        ({"type": "path", "expr": "$['*']"}, "/expr", "cannot be followed", "keys and places"),
        ({"type": "path", "expr": "$"}, "/expr", "cannot be followed", "keys and places"),
        ({"type": "path", "expr": ""}, "/expr", "cannot be followed", "keys and places"),
        ({"type": "path", "expr": "$..a"}, "/expr", "cannot be followed", "scans (..)"),
        ({"type": "path", "expr": "$.a.*"}, "/expr", "cannot be followed", "keys and places"),
        ({"type": "path", "expr": "$.a[0:2]"}, "/expr", "cannot be followed", "slices"),
        ({"type": "path", "expr": "$.a[?(@.b)]"}, "/expr", "cannot be followed", "filters"),
        ({"type": "path", "expr": "$.a.length()"}, "/expr", "cannot be followed", "functions"),
        ({"type": "path", "expr": """$["it's"]"""}, "/expr", "cannot be followed", "keys"),
        ({"type": "path", "expr": "$" + ".a" * 51}, "/expr", "cannot be followed", "keys"),
    ],
)
def test_a_field_that_lies_nowhere_is_told_where_it_is_wrong(
    field: dict[str, object], place: str, message: str, hint: str
) -> None:
    flatten = {"fields": [field | {"name": "a"}]}
    [error] = errors_of(changed(_FORMAT, {"type": "json", "flattenSpec": flatten}))
    assert error.pointer == f"{_FORMAT}/flattenSpec/fields/0{place}"
    assert message in error.message
    assert hint in error.hint
