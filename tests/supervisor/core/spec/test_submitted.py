"""Druid's index_kafka task as a bounded supervisor."""

import pytest
from pydantic import JsonValue

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.submitted_task import bounded_supervisor
from supervisor.core.values.errors import InvalidSpec, NotOffered

Task = dict[str, JsonValue]


def _task(**io: JsonValue) -> Task:
    return {
        "type": "index_kafka",
        "dataSchema": {
            "dataSource": "clicks",
            "timestampSpec": {"column": "time", "format": "iso"},
            "dimensionsSpec": {"dimensions": ["user"]},
            "granularitySpec": {"rollup": False},
        },
        "ioConfig": {
            "type": "kafka",
            "taskGroupId": 0,
            "baseSequenceName": "index_kafka_clicks_0123456789abcde",
            "useTransaction": True,
            "inputFormat": {"type": "json"},
            "consumerProperties": {"bootstrap.servers": "kafka:9092"},
            "startSequenceNumbers": {
                "type": "start",
                "stream": "clicks",
                "topic": "clicks",
                "partitionSequenceNumberMap": {"0": 5, "1": 0},
                "partitionOffsetMap": {"0": 5, "1": 0},
                "exclusivePartitions": [],
            },
            "endSequenceNumbers": {
                "type": "end",
                "stream": "clicks",
                "partitionSequenceNumberMap": {"0": 50, "1": 70},
            },
            **io,
        },
        "tuningConfig": {"type": "kafka", "maxRowsPerSegment": 1000},
    }


def test_a_task_with_two_ends_is_a_supervisor_that_reads_them_once() -> None:
    task_id, document = bounded_supervisor(_task(), "abcdefgh")

    spec = read_spec(document).spec
    bounds = spec.io_config.bounded_stream_config
    assert task_id == spec.id == "index_kafka_clicks_abcdefgh"
    assert spec.data_source == "clicks"
    assert spec.io_config.topic == "clicks"
    assert bounds is not None
    assert bounds.start_sequence_numbers == {0: 5, 1: 0}
    assert bounds.end_sequence_numbers == {0: 50, 1: 70}
    assert spec.tuning_config.max_rows_per_segment == 1000


def test_the_nested_form_and_an_id_of_ones_own_are_taken() -> None:
    flat = _task()
    sections = {name: flat.pop(name) for name in ("dataSchema", "ioConfig", "tuningConfig")}
    task_id, document = bounded_supervisor({**flat, "spec": sections, "id": "nightly"}, "x")

    assert task_id == "nightly"
    assert read_spec(document).spec.id == "nightly"


def test_what_druids_scheduler_adds_has_no_effect() -> None:
    added: Task = {"groupId": "g", "resource": {"availabilityGroup": "a"}, "dataSource": "clicks"}
    assert bounded_supervisor({**_task(), **added}, "x") == bounded_supervisor(_task(), "x")


def test_the_earliest_time_of_a_task_rejects_late_rows() -> None:
    _, document = bounded_supervisor(_task(minimumMessageTime="2026-01-01T00:00:00Z"), "x")
    found = read_spec(document).spec.io_config.late_message_rejection_start_date_time
    assert found is not None
    assert found.isoformat() == "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize("kind", ["index_parallel", "kill", "noop", None, 7, {"a": 1}])
def test_other_tasks_are_not_run_and_the_text_says_what_is(kind: JsonValue) -> None:
    with pytest.raises(NotOffered, match="index_kafka with start and end offsets is"):
        bounded_supervisor({**_task(), "type": kind}, "x")


WRONG: list[tuple[str, Task]] = [
    ("/ioConfig/startSequenceNumbers", _task(startSequenceNumbers=None)),
    ("/ioConfig/endSequenceNumbers", _task(endSequenceNumbers={"stream": "clicks"})),
    (
        "/ioConfig/endSequenceNumbers",
        _task(endSequenceNumbers={"stream": "other", "partitionSequenceNumberMap": {"0": 9}}),
    ),
    (
        "/ioConfig/startSequenceNumbers/exclusivePartitions",
        _task(
            startSequenceNumbers={
                "stream": "clicks",
                "partitionSequenceNumberMap": {"0": 1},
                "exclusivePartitions": [0],
            }
        ),
    ),
    (
        "/ioConfig/startSequenceNumbers/offset",
        _task(startSequenceNumbers={"stream": "clicks", "offset": 1}),
    ),
    ("/ioConfig/maximumMessageTime", _task(maximumMessageTime="2026-01-01")),
    ("/dataSchema", {**_task(), "dataSchema": None}),
    ("/id", {**_task(), "id": "../x"}),
    ("/id", {**_task(), "id": 5}),
    ("/datSchema", {**_task(), "datSchema": {}}),
]


@pytest.mark.parametrize(("pointer", "task"), WRONG)
def test_what_is_wrong_is_named_by_its_place(pointer: str, task: Task) -> None:
    with pytest.raises(InvalidSpec) as refused:
        bounded_supervisor(task, "x")
    assert [error.pointer for error in refused.value.errors] == [pointer]
    assert refused.value.errors[0].hint


def test_an_id_that_is_made_is_never_too_long() -> None:
    task = _task()
    schema = task["dataSchema"]
    assert isinstance(schema, dict)
    schema["dataSource"] = "x" * 128
    task_id, document = bounded_supervisor(task, "abcdefgh")
    assert len(task_id) == 128
    assert task_id.endswith("_abcdefgh")
    assert read_spec(document).spec.id == task_id
