"""Every format that a message may have has a reader."""

from typing import get_args

import pytest

from tasks.contract.ingest_spec import (
    AvroFormat,
    JsonFormat,
    JsonPath,
    OneSchema,
    RegexFormat,
    TextFormat,
    ValueFormat,
)
from tasks.ingest.formats.reject_reasons import RejectReason
from tasks.ingest.formats.table import FORMATS, reader_of

SCHEMA = """{"type": "record", "name": "r", "fields": [
    {"name": "a", "type": "int"}, {"name": "nested", "type": {"type": "map", "values": "int"}}]}"""
LINE = TextFormat(type="csv", columns=("a", "b"), delimiter=",")
PATHS = JsonFormat(paths=(JsonPath(name="deep", path="$.x.y"),))
AVRO = AvroFormat(schemas=OneSchema(text=SCHEMA), fields=PATHS)


def test_each_format_of_a_message_has_a_row() -> None:
    union, *_ = get_args(ValueFormat)

    assert set(FORMATS) == set(get_args(union))


@pytest.mark.parametrize(
    ("written", "flat", "named"),
    [
        (JsonFormat(), False, set()),
        (PATHS, False, {"deep"}),
        (JsonFormat(roots=("a",)), False, {"a"}),
        (LINE, True, {"a", "b"}),
        (AVRO, False, {"deep", "a", "nested"}),
        (AVRO, True, {"deep", "a"}),
        (AVRO.model_copy(update={"fields": JsonFormat(roots=("a",))}), False, {"a"}),
    ],
)
def test_a_format_names_fields_before_any_record_is_read(
    written: ValueFormat, flat: bool, named: set[str]
) -> None:
    assert reader_of(written).named_fields(flat=flat) == named


def test_a_format_says_why_a_value_may_be_none_of_its_records() -> None:
    regex = RegexFormat(pattern="(.)", columns=("a",))

    assert reader_of(regex).reasons - reader_of(LINE).reasons == {RejectReason.NO_MATCH}
    assert RejectReason.NOT_AVRO in reader_of(AVRO).reasons
    assert RejectReason.NOT_JSON not in reader_of(AVRO).reasons
