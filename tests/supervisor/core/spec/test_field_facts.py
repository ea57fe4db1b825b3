"""What the JSON Schema says of each field is what the code does and what the page says."""

import json
import re
from pathlib import Path

import pytest
from pydantic import JsonValue

from supervisor.core.spec.changes import CLASSES
from supervisor.core.spec.field_facts import PAGE, PLACES, facts_of, title_of, unit_of
from supervisor.core.spec.json_schema import spec_schema
from supervisor.core.spec.section import OURS, Declaration, Effect, Unit, all_parts, read_fields
from supervisor.core.spec.sections.data_schema import DataSchema
from supervisor.core.spec.sections.idle import IdleConfig
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.spec.sections.input_formats import KafkaInputFormat
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec

PARTS = all_parts(SupervisorSpec)
PAGE_TEXT = Path(PAGE).read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \|([^|\n]*)\| ?(.*?) ?\|$", re.MULTILINE)
COMPLETED = {"dimensionExclusions"}
"""GET adds to their default what is excluded in any case, such as the column of the time."""
WITHOUT_UNIT = {("sketchMetric", "lgK"), ("thetaMetric", "size"), ("indexSpec", "zstdLevel")}
"""Whole numbers of no unit: a logarithm, a size in entries of a sketch, a level."""


def rows_below(heading: str) -> dict[str, tuple[str, str]]:
    """Return field -> (default, meaning) of the tables below a heading, as they are written."""
    below = re.split(rf"^#+ {heading}$", PAGE_TEXT, maxsplit=1, flags=re.MULTILINE)[1]
    below = re.split(r"^#+ ", below, maxsplit=1, flags=re.MULTILINE)[0]
    return {name: (default.strip(), meaning) for name, default, meaning in ROW.findall(below)}


def properties(part: str) -> dict[str, dict[str, JsonValue]]:
    found = spec_schema()["$defs"][part]["properties"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("dataSchema", "dataSchema"),
        ("timestampSpec", "timestampSpec"),
        ("dimensionsSpec", "dimensionsSpec"),
        ("granularitySpec", "granularitySpec"),
        ("transformSpec", "transformSpec"),
        ("ioConfig", "ioConfig"),
        ("Input formats", "kafkaFormat"),
        ("tuningConfig", "tuningConfig"),
        ("indexSpec", "indexSpec"),
    ],
)
def test_the_page_s_table_and_the_schema_say_the_same_field_by_field(
    heading: str, part: str
) -> None:
    rows, schema = rows_below(heading), properties(part)
    fields = {name for name in read_fields(PARTS[part]) if name != "type"}
    assert fields <= rows.keys()
    for name in sorted(fields):
        default, meaning = rows[name]
        in_words = not default.startswith("`")  # "by day", "required"
        if not in_words and name not in COMPLETED:
            assert schema[name]["default"] == json.loads(default.strip("`")), name
        if default == "required" and name != "topic":  # a pattern may take its place
            assert "default" not in schema[name], name
        words = re.findall(r"[a-z]{4,}", re.sub(r"\]\([^)]*\)", "", meaning.lower()))
        described = str(schema[name].get("description", "")).lower()
        missing = [word for word in words if word not in described and word != "below"]
        assert missing in ([], ["there"]), (name, missing)
        assert ("Tidegate's own" in meaning) <= (schema[name]["x-tidegate-origin"] == "ours")


def test_the_hot_fields_are_those_of_the_table_of_changes() -> None:
    table = PAGE_TEXT.partition("## Changes")[2].partition("## Accepted")[0]
    [line] = [line for line in table.splitlines() if line.startswith("| `hot`")]
    named = set(re.findall(r"`(\w+)`", line.split("|")[2]))
    hot = {
        name
        for part in ("document", "dataSchema", "ioConfig", "tuningConfig")
        for name, field in properties(part).items()
        if field.get("x-tidegate-effect") == "hot"
    }
    assert hot - {"useEarliestSequenceNumber"} == named


def test_the_effect_of_each_field_is_the_one_that_a_change_has() -> None:
    """Goal: a badge in a form and the answer to the POST never differ."""
    by_pointer = {
        "/spec/ioConfig": (KafkaIoConfig, "ioConfig"),
        "/spec/tuningConfig": (TuningConfig, "tuningConfig"),
        "/spec/dataSchema": (DataSchema, "dataSchema"),
        "/spec/tuningConfig/indexSpec": (IndexSpec, "indexSpec"),
        "/spec/ioConfig/idleConfig": (IdleConfig, "idleConfig"),
        "/spec/ioConfig/inputFormat": (KafkaInputFormat, "kafkaFormat"),
    }
    for pointer, (model, part) in by_pointer.items():
        for name in read_fields(model):
            expected = nearest_class(f"{pointer}/{name}")
            assert properties(part)[name]["x-tidegate-effect"] == expected, name


def nearest_class(pointer: str) -> str:
    while pointer not in CLASSES:
        pointer = pointer.rpartition("/")[0]
    return CLASSES[pointer].value


@pytest.mark.parametrize("part", sorted(PARTS))
def test_each_field_has_a_title_an_origin_and_a_place_that_is_on_the_page(part: str) -> None:
    headings = re.findall(r"^#+ (.+)$", PAGE_TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 _-]", "", h.lower()).replace(" ", "-") for h in headings}
    assert part in PLACES
    for name, field in read_fields(PARTS[part]).items():
        schema = properties(part)[name]
        assert schema["title"], name
        assert schema["x-tidegate-origin"] == ("ours" if OURS in field.metadata else "druid")
        page, _, anchor = str(schema["x-tidegate-doc"]).partition("#")
        assert page == PAGE
        assert anchor in anchors, (name, anchor)
        effect = schema.get("x-tidegate-effect")
        assert effect is None or str(effect) in {each.value for each in Effect}


@pytest.mark.parametrize("part", sorted(PARTS))
def test_each_number_has_a_unit(part: str) -> None:
    numbers = {
        name
        for name, schema in properties(part).items()
        if name in read_fields(PARTS[part]) and "integer" in str(schema.get("type"))
    }
    units = {name for name in numbers if unit_of(read_fields(PARTS[part])[name]) is not None}
    assert {(part, name) for name in numbers - units} <= WITHOUT_UNIT


def test_units_follow_from_the_type_where_it_says_them() -> None:
    fields = read_fields(KafkaIoConfig)
    assert unit_of(fields["taskDuration"]) is Unit.DURATION
    assert unit_of(fields["lateMessageRejectionPeriod"]) is Unit.DURATION
    assert unit_of(fields["lateMessageRejectionStartDateTime"]) is Unit.TIME
    assert unit_of(fields["taskCount"]) is Unit.GROUPS
    assert unit_of(fields["topic"]) is None
    assert unit_of(read_fields(TuningConfig)["targetSegmentBytes"]) is Unit.BYTES


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("maxRowsPerSegment", "Max rows per segment"),
        ("lgK", "Lg k"),
        ("type", "Type"),
        ("useEarliestOffset", "Use earliest offset"),
    ],
)
def test_a_title_is_the_words_of_the_name(name: str, title: str) -> None:
    assert title_of(name) == title


@pytest.mark.parametrize("model", [KafkaIoConfig, TuningConfig, IndexSpec, KafkaInputFormat])
def test_a_required_field_has_no_default_and_any_other_has_one(model: Declaration) -> None:
    facts = facts_of(model)
    for name, field in read_fields(model).items():
        assert ("default" in facts[name]) is not field.is_required(), name
