"""Sections and JSON Schema name the same fields and take the same documents."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.sample_request import SamplerConfig
from supervisor.core.spec.section import Ignored, Section, all_parts, known_names, read_fields
from supervisor.core.spec.sections.dimensions import Dimension
from supervisor.core.spec.spec import SupervisorSpec
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, flat, specs
from tests.supervisor.core.spec.test_errors import WRONG
from tests.tasks.ingest.test_golden import GOLDEN

PARTS = all_parts(SupervisorSpec)
SCALES = {"enableTaskAutoScaler": True}
DRUIDS_FIELDS = json.loads(Path(__file__).with_name("druid_fields.json").read_text())
"""What Druid 33's pages and source name, and some of later versions, by our name of the part.

A list of its own, not made from a table.
"""


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_name_is_declared_once_and_in_the_json_schema(part: str) -> None:
    section = PARTS[part]
    assert not section.others.keys() & read_fields(section).keys()
    fields = {field.alias or name for name, field in section.model_fields.items()}
    assert section.stored_only <= fields
    assert set(spec_schema()["$defs"][part]["properties"]) == set(known_names(section))


def test_every_section_is_held_by_another() -> None:
    """Goal: what is declared is read, and is in the JSON Schema and on the pages."""
    declared = {
        each
        for each in _below(Section)
        if "part" in vars(each) and each.__module__.startswith("supervisor.core.spec.")
    }
    apart = {each for each in declared if each.__module__ == SamplerConfig.__module__}
    assert declared - apart - {Dimension} == set(PARTS.values())


def _below(section: type[Section]) -> set[type[Section]]:
    return {each for found in section.__subclasses__() for each in (found, *_below(found))}


def test_each_part_has_a_name_of_its_own_on_the_pages() -> None:
    titles = [section.title or part for part, section in PARTS.items()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize(("part", "fields"), sorted(DRUIDS_FIELDS.items()))
def test_each_field_that_druid_documents_has_a_place_in_a_table(
    part: str, fields: list[str]
) -> None:
    assert set(fields) <= set(known_names(PARTS[part]))


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
        ignored = [n for n, o in PARTS[section].others.items() if isinstance(o, Ignored)]
        for name in ignored:
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
