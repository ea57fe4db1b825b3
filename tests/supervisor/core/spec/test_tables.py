"""Tables of fields, models and JSON Schema name the same fields and take the same documents."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from scripts.reference import SPEC_PARTS
from supervisor.core.spec import druid_fields as tables
from supervisor.core.spec.json_schema import PARTS, spec_schema
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, flat, specs
from tests.supervisor.core.spec.test_errors import WRONG
from tests.tasks.ingest.test_golden import GOLDEN

_OF_OTHER_TYPES = {
    "csvFormat": {"delimiter"},
    "textDimension": {"castToType"},
    "numberDimension": {"castToType"},
    "jsonDimension": {"castToType"},
}
"""Fields of a model that several types share, by the type that has no such field."""
_WHOLE = frozenset({"document", "spec"})
SCALES = {"enableTaskAutoScaler": True}
DRUIDS_FIELDS = json.loads(Path(__file__).with_name("druid_fields.json").read_text())
"""What Druid 33's pages and source name, and some of later versions, by our name of the part.

A list of its own, not made from a table.
"""


@pytest.mark.parametrize("part", sorted(PARTS.keys() - _WHOLE))
def test_what_a_table_keeps_is_what_its_model_reads(part: str) -> None:
    table, model = PARTS[part]
    assert model is not None
    read = _fields(model)
    fixed = {name for name in read if name in table.fixed}
    assert table.kept == read - fixed - _OF_OTHER_TYPES.get(part, set())


def test_the_document_has_the_sections_of_the_spec() -> None:
    assert tables.ENVELOPE.kept == _fields(SupervisorSpec) | {"spec"}


def _fields(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_field_is_in_one_part_of_a_table_and_in_the_json_schema(part: str) -> None:
    table, _ = PARTS[part]
    assert len(table.known) == len(set(table.known))
    assert set(spec_schema()["$defs"][part]["properties"]) == set(table.known)


def test_every_table_has_its_part() -> None:
    named = [table for table in vars(tables).values() if isinstance(table, tables.Table)]
    several = (tables.METRICS, tables.AVRO_DECODERS, tables.PROTOBUF_DECODERS, tables.VALUE_FORMATS)
    named += [table for some in several for table in some.values()]
    assert {id(table) for table in named} == {id(table) for table, _ in PARTS.values()}


def test_every_part_is_on_the_page_of_druids_fields() -> None:
    assert SPEC_PARTS.keys() == PARTS.keys()


@pytest.mark.parametrize(("part", "fields"), sorted(DRUIDS_FIELDS.items()))
def test_each_field_that_druid_documents_has_a_place_in_a_table(
    part: str, fields: list[str]
) -> None:
    assert set(fields) <= set(PARTS[part][0].known)


SCHEMA = Draft202012Validator(spec_schema())


def test_the_json_schema_is_one() -> None:
    Draft202012Validator.check_schema(spec_schema())


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_the_json_schema_takes_what_druid_writes(file: Path) -> None:
    document = json.loads(file.read_text())["spec"]
    SCHEMA.validate(document)
    SCHEMA.validate(read_spec(document).spec.normalised())


@given(specs())
def test_the_json_schema_takes_what_get_answers(spec: SupervisorSpec) -> None:
    SCHEMA.validate(json.loads(json.dumps(spec.normalised(), default=str)))


_UNKNOWN = [
    (pointer, value) for pointer, value, message, _ in WRONG if message.startswith("unknown field")
]


@pytest.mark.parametrize(("pointer", "value"), _UNKNOWN, ids=[pointer for pointer, _ in _UNKNOWN])
def test_the_json_schema_refuses_an_unknown_field(pointer: str, value: object) -> None:
    assert not SCHEMA.is_valid(changed(pointer, value))


def test_the_json_schema_takes_nulls_and_flat_documents() -> None:
    """Goal: whatever the reader takes: no editor marks what the server accepts."""
    document = flat(created()) | {"id": None}
    for section in ("dataSchema", "ioConfig", "tuningConfig"):
        for name in PARTS[section][0].idle:
            document = changed(f"/{section}/{name}", None, document)
    read_spec(document)
    SCHEMA.validate(document)


def test_the_json_schema_refuses_what_no_field_can_be() -> None:
    assert not SCHEMA.is_valid({"type": "kafka"})
    assert not SCHEMA.is_valid(changed("/spec/ioConfig/taskCount", "two"))
    assert not SCHEMA.is_valid(changed("/spec/ioConfig/inputFormat", REMOVED))
    assert not SCHEMA.is_valid(changed("/spec/dataSchema/timestampSpec", REMOVED))
    assert not SCHEMA.is_valid(changed("/spec/ioConfig/inputFormat/type", "protobuf"))
    assert not SCHEMA.is_valid(changed("/spec/ioConfig/idleConfig", {"enabled": "yes"}))
    assert not SCHEMA.is_valid(changed("/spec/ioConfig/autoScalerConfig", SCALES))
    assert not SCHEMA.is_valid(changed("/spec/tuningConfig/reportParseExceptions", value=True))
