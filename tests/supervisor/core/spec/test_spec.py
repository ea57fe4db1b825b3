"""Specs that are accepted: their forms, their defaults, what GET answers, what is stored."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec, ingest_spec, schema_digest
from tasks.contract.ingest_spec import (
    Column,
    Granularity,
    IngestSpec,
    PeriodChunks,
    TimestampSpec,
    Tuning,
    UnfitValues,
)
from tasks.contract.kafka_client import KafkaClient
from tests.supervisor.core.spec.spec_documents import (
    REMOVED,
    changed,
    created,
    errors_of,
    flat,
    specs,
)


def test_a_body_of_a_druid_client_is_accepted_without_a_warning() -> None:
    read = read_spec(created())
    assert read.warnings == ()
    spec = read.spec
    assert (spec.id, spec.data_source, spec.io_config.topic) == ("samples",) * 3
    assert spec.io_config.task_duration == timedelta(minutes=1)
    assert spec.io_config.client == KafkaClient(bootstrap_servers="127.0.0.1:19092")
    assert spec.data_schema.dimensions_spec.names == ("user", "page", "bytes", "ref")


def test_the_flat_form_means_the_same_as_the_nested_one() -> None:
    assert read_spec(flat(created())).spec == read_spec(created()).spec


def test_both_forms_at_once_are_accepted_while_they_agree() -> None:
    both = created() | flat(created())
    assert read_spec(both).spec == read_spec(created()).spec
    edited = changed("/spec/ioConfig/taskCount", 3, both)
    assert [error.pointer for error in errors_of(edited)] == ["/ioConfig"]


def test_what_is_left_out_has_its_default() -> None:
    small = {
        "type": "kafka",
        "spec": {
            "dataSchema": {"dataSource": "t", "timestampSpec": {}},
            "ioConfig": {
                "topic": "t",
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": "kafka:9092"},
            },
        },
    }
    spec = read_spec(small).spec
    io_config = spec.io_config
    assert (io_config.task_count, io_config.replicas, io_config.stop_task_count) == (1, 1, None)
    assert (io_config.task_duration, io_config.period) == (
        timedelta(hours=1),
        timedelta(seconds=30),
    )
    assert (io_config.start_delay, io_config.completion_timeout) == (
        timedelta(0),
        timedelta(minutes=30),
    )
    assert (io_config.use_earliest_offset, spec.suspended, spec.context) == (False, False, {})
    assert spec.data_schema.granularity_spec.segment_granularity is Granularity.DAY
    assert (spec.data_schema.timestamp_spec.column, spec.data_schema.timestamp_spec.format) == (
        "timestamp",
        "auto",
    )
    assert spec.tuning_config.contract() == Tuning()


def test_null_means_left_out() -> None:
    document = created()
    for name in ("taskCount", "replicas", "taskDuration", "useEarliestOffset", "idleConfig"):
        document = changed(f"/spec/ioConfig/{name}", None, document)
    spec = read_spec(changed("/spec/tuningConfig", None, changed("/context", None, document))).spec
    assert spec.io_config.task_duration == timedelta(hours=1)
    assert (spec.tuning_config.max_saved_parse_exceptions, spec.context) == (20, {})


def test_an_id_of_its_own_need_not_be_the_table() -> None:
    spec = read_spec(changed("/id", "samples-eu")).spec
    assert (spec.id, spec.data_source) == ("samples-eu", "samples")


def test_get_writes_defaults_out_as_druid_does() -> None:
    """Goal: Druid's clients find what they look for.

    Source: the answer of Druid 33.0.0 to GET of the same spec.
    """
    answer = read_spec(changed("/spec/ioConfig/startDelay", "PT5S")).spec.normalised()
    inner = answer["spec"]
    assert isinstance(inner, dict)
    assert {name: answer[name] for name in inner} == inner
    assert (answer["id"], answer["context"], answer["suspended"]) == ("samples", None, False)
    io_config = inner["ioConfig"]
    assert (io_config["taskDuration"], io_config["completionTimeout"]) == ("PT60S", "PT1800S")
    assert (io_config["startDelay"], io_config["period"]) == ("PT5S", "PT30S")
    assert (io_config["stream"], io_config["useEarliestSequenceNumber"]) == ("samples", True)
    assert inner["dataSchema"] == {
        "dataSource": "samples",
        "timestampSpec": {"column": "ts", "format": "iso", "missingValue": None},
        "dimensionsSpec": {
            "dimensions": [
                _dimension("string", "user"),
                _dimension("string", "page"),
                _dimension("long", "bytes"),
                _dimension("string", "ref"),
            ],
            "dimensionExclusions": ["__time", "ts"],
            "includeAllDimensions": False,
            "useSchemaDiscovery": False,
        },
        "metricsSpec": [],
        "granularitySpec": {
            "type": "uniform",
            "segmentGranularity": "HOUR",
            "queryGranularity": {"type": "none"},
            "rollup": False,
            "intervals": [],
        },
        "transformSpec": {"filter": None, "transforms": []},
    }


def _dimension(kind: str, name: str) -> dict[str, object]:
    return {
        "type": kind,
        "name": name,
        "multiValueHandling": "SORTED_ARRAY",
        "createBitmapIndex": kind == "string",
    }


def test_druids_own_answer_to_get_is_accepted_without_a_warning() -> None:
    """Goal: moving from Druid is GET there and POST here.

    Source: the fields and defaults that Druid 33.0.0 writes out.
    """
    document = json.loads(json.dumps(read_spec(created()).spec.normalised()))
    index = {
        "bitmap": {"type": "roaring"},
        "dimensionCompression": "lz4",
        "stringDictionaryEncoding": {"type": "utf8"},
        "metricCompression": "lz4",
        "longEncoding": "longs",
    }
    memory = {
        "appendableIndexSpec": {"type": "onheap", "preserveExistingMetrics": False},
        "maxRowsInMemory": 150000,
        "maxBytesInMemory": 0,
        "skipBytesInMemoryOverheadCheck": False,
        "intermediatePersistPeriod": "PT10M",
        "maxPendingPersists": 0,
        "indexSpec": index,
        "indexSpecForIntermediatePersists": index,
        "handoffConditionTimeout": 900000,
        "segmentWriteOutMediumFactory": None,
        "workerThreads": None,
        "chatRetries": 8,
        "httpTimeout": "PT10S",
        "shutdownTimeout": "PT80S",
        "offsetFetchPeriod": "PT30S",
        "intermediateHandoffPeriod": "P2147483647D",
        "logParseExceptions": True,
        "numPersistThreads": 1,
        "maxColumnsToMerge": -1,
        "repartitionTransitionDuration": "PT120S",
    }
    for base in ("", "/spec"):
        for name, value in memory.items():
            document = changed(f"{base}/tuningConfig/{name}", value, document)
        for name, value in {"pollTimeout": 100, "emitTimeLagMetrics": False}.items():
            document = changed(f"{base}/ioConfig/{name}", value, document)
        for name in ("batchTarget", "batchRowsMin", "batchRowsMax", "linger"):
            document = changed(f"{base}/tuningConfig/{name}", REMOVED, document)
    read = read_spec(changed("/id", REMOVED, document))
    assert read.spec == read_spec(created()).spec
    assert read.warnings == ()


@settings(max_examples=60, deadline=None)
@given(specs())
def test_get_and_post_back_changes_nothing(spec: SupervisorSpec) -> None:
    answer = json.loads(json.dumps(spec.normalised()))
    assert read_spec(answer).spec == spec
    assert read_spec(answer).spec.normalised() == answer


@settings(max_examples=60, deadline=None)
@given(specs())
def test_a_stored_spec_is_loaded_as_it_was(spec: SupervisorSpec) -> None:
    payload = json.loads(json.dumps(spec.model_dump(mode="json")))
    assert SupervisorSpec.model_validate(payload) == spec
    assert SupervisorSpec.from_json(spec.to_json()) == spec
    assert SupervisorSpec.model_validate(payload).model_dump(mode="json") == payload


@settings(max_examples=30, deadline=None)
@given(specs())
def test_a_task_is_told_what_crosses_the_wire(spec: SupervisorSpec) -> None:
    message = ingest_spec(spec)
    assert IngestSpec.from_json(message.to_json()) == message


def test_a_task_is_told_columns_time_and_bounds() -> None:
    document = changed("/spec/dataSchema/dimensionsSpec/dimensionExclusions", ["secret", "ts"])
    document = changed("/spec/tuningConfig/maxRowsPerSegment", 1000, document)
    message = ingest_spec(read_spec(changed("/spec/tuningConfig/linger", "PT0.5S", document)).spec)
    assert message == IngestSpec(
        data_source="samples",
        kafka=KafkaClient(bootstrap_servers="127.0.0.1:19092"),
        timestamp=TimestampSpec(column="ts", format="iso"),
        columns=(
            Column(name="user"),
            Column(name="page"),
            Column(name="bytes", type="long"),
            Column(name="ref"),
        ),
        excluded=("__time", "secret", "ts"),
        segment_granularity=Granularity.HOUR,
        tuning=Tuning(
            segment_rows_max=1000,
            log_parse_exceptions=True,
            saved_parse_exceptions_max=10,
            linger=timedelta(milliseconds=500),
        ),
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            {"type": "period", "period": "P1D", "timeZone": "Europe/Berlin"},
            PeriodChunks(period="P1D", time_zone="Europe/Berlin"),
        ),
        (
            {"type": "period", "period": "PT2H", "origin": "2024-01-01T01:00:00+01:00"},
            PeriodChunks(period="PT2H", origin=datetime(2024, 1, 1, tzinfo=UTC)),
        ),
        (
            {"type": "duration", "duration": 7_200_000},
            PeriodChunks(period="PT7200S", origin=datetime(1970, 1, 1, tzinfo=UTC)),
        ),
        ({"type": "period", "period": "P1W"}, Granularity.WEEK),
        ({"type": "all"}, Granularity.ALL),
    ],
)
def test_time_chunks_are_of_any_period(written: object, expected: object) -> None:
    """Source: Druid's docs, querying/granularities: all of them are segment granularities too."""
    spec = read_spec(changed("/spec/dataSchema/granularitySpec/segmentGranularity", written)).spec
    message = ingest_spec(spec)
    assert message.segment_granularity == expected
    assert IngestSpec.from_json(message.to_json()) == message
    assert read_spec(spec.normalised()).spec == spec


def test_unfit_values_are_nulls_unless_the_spec_says_otherwise() -> None:
    for written, expected in [
        (REMOVED, UnfitValues.NULL),
        (None, UnfitValues.NULL),
        ("null", UnfitValues.NULL),
        ("quarantine", UnfitValues.QUARANTINE),
    ]:
        document = changed("/spec/tuningConfig/unfitValues", "null")
        read = read_spec(changed("/spec/tuningConfig/unfitValues", written, document))
        assert ingest_spec(read.spec).unfit_values is expected


def test_a_timestamp_column_that_is_a_dimension_is_kept() -> None:
    spec = read_spec(changed("/spec/dataSchema/dimensionsSpec/dimensions", ["ts", "user"])).spec
    assert spec.data_schema.excluded == ("__time",)


def test_the_digest_changes_with_what_makes_rows_and_with_nothing_else() -> None:
    first = schema_digest(read_spec(created()).spec)
    for pointer, value in (
        ("/spec/ioConfig/taskCount", 7),
        ("/spec/ioConfig/taskDuration", "PT5M"),
        ("/suspended", True),
        ("/spec/dataSchema/timestampSpec/missingValue", None),
        ("/spec/dataSchema/dimensionsSpec/dimensionExclusions", ["ts"]),
    ):
        assert schema_digest(read_spec(changed(pointer, value)).spec) == first, pointer
    for pointer, value in (
        ("/spec/dataSchema/dimensionsSpec/dimensions/0", "visitor"),
        ("/spec/dataSchema/granularitySpec/segmentGranularity", "DAY"),
        ("/spec/dataSchema/timestampSpec/format", "auto"),
        ("/spec/tuningConfig/maxRowsPerSegment", 10),
    ):
        assert schema_digest(read_spec(changed(pointer, value)).spec) != first, pointer


def test_fields_that_are_kept_and_not_acted_on_are_told() -> None:
    """Goal: nobody relies on a period that does nothing."""
    document = changed("/spec/ioConfig/period", "PT5M")

    [warning] = read_spec(document).warnings

    assert "period is kept and not used" in warning
