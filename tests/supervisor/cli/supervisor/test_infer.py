"""What `supervisor init` makes of a sample."""

import json

import pytest

from supervisor.cli.supervisor.infer import NothingToInfer, infer
from supervisor.cli.supervisor.init import make_spec, table_name
from supervisor.core.spec.reader import read_spec
from supervisor.core.values.table_names import name_problem

ISO = "2026-11-21T03:17:03.479Z"


def values(*records: object) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (ISO, "iso"),
        ("2026-11-21", "iso"),
        ("2026-11-21 03:17:03+02:00", "iso"),
        (1_795_000_000_000, "millis"),
        ("1795000000000", "millis"),
        (1_795_000_000, "posix"),
    ],
)
def test_the_way_a_time_is_written_is_found(value: object, written: str) -> None:
    found = infer(values({"n": 1, "ts": value}))

    assert (found.timestamp_column, found.timestamp_format) == ("ts", written)


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        ([1, 2], "long"),
        ([1, None], "long"),
        ([1, 2.5], "double"),
        ([1.0], "double"),
        ([2**70], "double"),
        ([True], "string"),
        (["1"], "string"),
        ([1, "x"], "string"),
        ([{"a": 1}], "json"),
        ([{"a": 1}, "x"], "json"),
        ([[1], [None, True], None], "array<long>"),
        ([[]], "array<long>"),
        ([[1], [2.5]], "array<double>"),
        ([["a"], []], "array<string>"),
        ([["a", 1]], "array<string>"),
        ([[1], 1], "json"),
        ([[[1]]], "json"),
        ([[{"a": 1}], [1]], "json"),
        ([None], "string"),
    ],
)
def test_a_columns_type_holds_every_value_seen(seen: list[object], kind: str) -> None:
    found = infer(values(*({"ts": ISO, "x": value} for value in seen)))

    assert found.columns == (("x", kind),)


def test_the_field_that_is_called_a_time_is_preferred() -> None:
    inferred = infer(values({"id": 1_795_000_000_000, "created_at": ISO, "timestamp": ISO}))

    assert inferred.timestamp_column == "timestamp"
    assert [name for name, _ in inferred.columns] == ["id", "created_at"]


def test_a_time_that_many_records_lack_is_not_taken() -> None:
    found = infer(values(*({"seen": ISO} | ({"ts": ISO} if n == 0 else {}) for n in range(4))))

    assert found.timestamp_column == "seen"


def test_both_ways_of_writing_make_auto() -> None:
    found = infer(values({"ts": ISO}, {"ts": "1795000000000"}))

    assert found.timestamp_format == "auto"


def test_the_user_may_name_the_time() -> None:
    assert infer(values({"ts": ISO, "at": ISO}), "at").timestamp_column == "at"
    with pytest.raises(NothingToInfer, match="no record has a field when"):
        infer(values({"ts": ISO}), "when")


def test_without_a_time_the_fields_are_listed() -> None:
    with pytest.raises(NothingToInfer, match=r"--timestamp: a, b"):
        infer(values({"a": 1, "b": "x"}))


def test_records_that_are_no_objects_are_told() -> None:
    with pytest.raises(NothingToInfer, match="none of 2 records is a JSON object; the first: oops"):
        infer([b"oops", b"[1]"])

    found = infer([b"oops", *values({"ts": ISO}, {"ts": ISO})])
    assert found.notes == ("1 of 3 records are no JSON objects: they will be rejected",)


def test_names_that_a_table_cannot_have_are_left_out() -> None:
    inferred = infer(values({"ts": ISO, "__offset": 1, "City": "a", "city": "b", "": 1}))

    assert inferred.columns == (("City", "string"),)
    assert len(inferred.notes) == 3


def test_the_spec_is_one_that_the_overlord_takes() -> None:
    inferred = infer(
        values({"ts": ISO, "user": "a", "n": 1, "x": 1.5, "tags": ["a"], "at": {"lat": 1}})
    )

    read = read_spec(make_spec("localhost:9092", "my.topic", "clicks", inferred))

    assert read.warnings == ()
    assert (read.spec.id, read.spec.io_config.topic) == ("clicks", "my.topic")
    assert read.spec.io_config.use_earliest_offset
    assert read.spec.io_config.task_duration.total_seconds() == 60


@pytest.mark.parametrize("topic", ["clicks", "a..b", "_x", "-", "con", "a" * 249, "x.", "..."])
def test_every_topic_makes_a_tables_name(topic: str) -> None:
    assert name_problem(table_name(topic)) is None
