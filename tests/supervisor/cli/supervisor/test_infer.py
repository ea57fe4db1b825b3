"""What `supervisor init` makes of a sample."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from supervisor.cli.supervisor.infer import NothingToInfer, infer
from supervisor.cli.supervisor.init import make_request, make_spec, table_name
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.sample_request import read_sample
from supervisor.core.values.table_names import name_problem
from supervisor.views.sample import SampleRow, SampleView

ISO = "2026-11-21T03:17:03.479Z"


def sample(*records: Mapping[str, JsonValue] | str, **types: str) -> SampleView:
    """Return a sample of objects and of texts that are none, with these types discovered."""
    rows = [
        SampleRow(topic="t", partition=0, offset=n, input={"raw": r}, unparseable=True)
        if isinstance(r, str)
        else SampleRow(topic="t", partition=0, offset=n, input=dict(r), parsed={"__time": 0})
        for n, r in enumerate(records)
    ]
    discovered: tuple[dict[str, JsonValue], ...] = tuple(
        {"type": kind, "name": name} for name, kind in types.items()
    )
    return SampleView(
        num_rows_read=len(rows),
        num_rows_indexed=sum(not row.unparseable for row in rows),
        logical_dimensions=discovered,
        physical_dimensions=discovered,
        logical_segment_schema=(),
        data=tuple(rows),
    )


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
def test_the_way_a_time_is_written_is_found(value: JsonValue, written: str) -> None:
    found = infer(sample({"n": 1, "ts": value}))

    assert (found.timestamp_column, found.timestamp_format) == ("ts", written)


def test_columns_have_the_discovered_types_in_the_order_of_the_records() -> None:
    inferred = infer(
        sample({"ts": ISO, "z": 1, "a": ["x"]}, a="array<string>", ts="string", z="long")
    )

    assert inferred.columns == (("z", "long"), ("a", "array<string>"))
    assert inferred.notes == ()


def test_a_column_of_nulls_is_one_of_texts_and_json_is_pointed_out() -> None:
    inferred = infer(sample({"ts": ISO, "n": None, "at": {"lat": 1}}, ts="string", at="json"))

    assert inferred.columns == (("n", "string"), ("at", "json"))
    assert inferred.notes == (
        "n is always null: its column is string",
        "at holds objects, or values of several sorts: its column is json",
    )


def test_the_field_that_is_called_a_time_is_preferred() -> None:
    inferred = infer(sample({"id": 1_795_000_000_000, "created_at": ISO, "timestamp": ISO}))

    assert inferred.timestamp_column == "timestamp"
    assert [name for name, _ in inferred.columns] == ["id", "created_at"]


def test_a_time_that_many_records_lack_is_not_taken() -> None:
    found = infer(sample(*({"seen": ISO} | ({"ts": ISO} if n == 0 else {}) for n in range(4))))

    assert found.timestamp_column == "seen"


def test_both_ways_of_writing_make_auto() -> None:
    found = infer(sample({"ts": ISO}, {"ts": "1795000000000"}))

    assert found.timestamp_format == "auto"


def test_the_user_may_name_the_time() -> None:
    assert infer(sample({"ts": ISO, "at": ISO}), "at").timestamp_column == "at"
    with pytest.raises(NothingToInfer, match="no record has a field when"):
        infer(sample({"ts": ISO}), "when")


def test_without_a_time_the_fields_are_listed() -> None:
    with pytest.raises(NothingToInfer, match=r"--timestamp: a, b"):
        infer(sample({"a": 1, "b": "x"}))


def test_records_that_are_no_objects_are_pointed_out() -> None:
    with pytest.raises(NothingToInfer, match="none of 2 records is a JSON object; the first: oops"):
        infer(sample("oops", "[1]"))

    inferred = infer(sample("oops", {"ts": ISO}, {"ts": ISO}))
    assert inferred.notes == ("1 of 3 records are no JSON objects: they will be rejected",)


def test_a_record_too_long_to_be_sent_whole_is_no_object_with_a_field_raw() -> None:
    rows = sample({"raw": '{"long": "xxxx'}, {"ts": ISO, "n": 1}, n="long")

    assert infer(rows).columns == (("n", "long"),)


def test_names_that_a_table_cannot_have_are_left_out() -> None:
    records = sample({"ts": ISO, "__offset": 1, "City": "a", "city": "b", "": 1}, city="string")

    inferred = infer(records)

    assert inferred.columns == (("City", "string"),)
    assert len(inferred.notes) == 3


def test_the_spec_is_one_that_the_overlord_takes() -> None:
    inferred = infer(sample({"ts": ISO, "user": "a", "n": 1}, user="string", n="long"))

    read = read_spec(make_spec("localhost:9092", "my.topic", "clicks", inferred))

    assert read.warnings == ()
    assert (read.spec.id, read.spec.io_config.topic) == ("clicks", "my.topic")
    assert read.spec.io_config.use_earliest_offset
    assert read.spec.io_config.task_duration.total_seconds() == 60


def test_the_sample_is_of_the_newest_records_and_discovers_every_field() -> None:
    request = read_sample(make_request("localhost:9092", "t", "clicks", rows=7, timeout_ms=900))

    assert (request.rows, request.within.total_seconds()) == (7, 0.9)
    assert (request.raw, request.timeless) == (False, True)
    assert not request.spec.io_config.use_earliest_offset
    assert request.spec.data_schema.dimensions_spec.use_schema_discovery
    assert request.spec.data_schema.dimensions_spec.dimension_exclusions == ()


@pytest.mark.parametrize("topic", ["clicks", "a..b", "_x", "-", "con", "a" * 249, "x.", "..."])
def test_every_topic_makes_a_tables_name(topic: str) -> None:
    assert name_problem(table_name(topic)) is None
