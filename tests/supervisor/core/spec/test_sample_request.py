"""The body of a request to the sampler: what is read, filled in and refused."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.sample_request import SampleRequest, read_sample
from supervisor.core.values.errors import InvalidSpec
from tasks.contract.sample import BYTES_MAX
from tests.supervisor.core.spec.spec_documents import changed, created

RECORD: JsonValue = {
    "type": "record",
    "name": "click",
    "fields": [{"name": "a", "type": "long"}],
}
SOURCE: dict[str, JsonValue] = {
    "topic": "clicks",
    "consumerProperties": {"bootstrap.servers": "kafka:9092"},
}


def read(spec: object, **config: object) -> SampleRequest:
    return read_sample({"type": "kafka", "spec": spec, "samplerConfig": config})


def test_a_whole_spec_is_read_as_a_post_reads_it() -> None:
    document = created()
    whole = read_spec(document).spec

    request, again = read(document), read(whole.normalised())

    assert request == again
    assert request.spec == whole
    assert (request.raw, request.timeless) == (False, False)
    assert (request.rows, request.within, request.size_bytes) == (
        200,
        timedelta(seconds=10),
        BYTES_MAX,
    )


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_left_out_is_filled_in(nested: bool) -> None:
    """Source: the steps of Druid's loader, which knows more of the table with each."""
    json = {"type": "json"}
    for schema, source, raw, timeless in (
        (None, SOURCE, True, True),
        ({}, SOURCE, True, True),
        ({}, SOURCE | {"inputFormat": json}, False, True),
        ({"timestampSpec": {"column": "t"}}, SOURCE | {"inputFormat": json}, False, False),
        ({"timestampSpec": None, "dataSource": None}, SOURCE | {"inputFormat": None}, True, True),
    ):
        sections = {"ioConfig": source} | ({} if schema is None else {"dataSchema": schema})
        document = {"spec": sections} if nested else sections
        found = read({"type": "kafka", **document})
        assert (found.raw, found.timeless) == (raw, timeless)
        assert found.spec.io_config.topic == "clicks"


WHOLE_LINE: dict[str, JsonValue] = {
    "type": "regex",
    "pattern": r"([\s\S]*)",
    "listDelimiter": "56616469-6de2-9da4-efb8-8f416e6e6965",
    "columns": ["raw"],
}
WITH_KEY: dict[str, JsonValue] = {
    "type": "kafka",
    "headerFormat": {"type": "string", "encoding": "UTF-8"},
    "keyFormat": WHOLE_LINE,
    "valueFormat": WHOLE_LINE,
}


def from_the_console(written: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what Druid's console posts until a table's time is chosen.

    Source: sampleForConnect and fixSamplerTypes in Druid's web-console/src/utils/sampler.ts.
    """
    time: JsonValue = {
        "column": "!!!_no_such_column_!!!",
        "missingValue": "1970-01-01T00:00:00Z",
    }
    spec: JsonValue = {
        "type": "kafka",
        "ioConfig": {**SOURCE, "type": "kafka", "useEarliestOffset": True, "inputFormat": written},
        "dataSchema": {
            "dataSource": "sample",
            "timestampSpec": time,
            "dimensionsSpec": {},
            "granularitySpec": {"rollup": False},
        },
        "tuningConfig": {"type": "kafka"},
    }
    return {
        "type": "kafka",
        "spec": spec,
        "samplerConfig": {"numRows": 500, "timeoutMs": 15_000},
    }


@pytest.mark.parametrize("written", [WHOLE_LINE, WITH_KEY], ids=["lines", "kafka"])
def test_the_console_of_druid_connects_and_asks_for_a_column_that_there_is_not(
    written: dict[str, JsonValue],
) -> None:
    request = read_sample(from_the_console(written))

    assert (request.raw, request.timeless) == (False, False)
    assert (request.rows, request.within) == (500, timedelta(seconds=15))
    assert request.spec.io_config.use_earliest_offset


@pytest.mark.parametrize(
    "written",
    [
        {"type": "json"},
        {"type": "csv", "columns": ["a"]},
        {"type": "tsv", "columns": ["a"]},
        WHOLE_LINE,
        {"type": "avro_stream", "avroBytesDecoder": {"type": "schema_inline", "schema": RECORD}},
        {
            "type": "protobuf",
            "protoBytesDecoder": {"type": "schema_registry", "url": "http://registry:8081"},
        },
        WITH_KEY,
    ],
    ids=lambda written: str(written["type"]),
)
def test_the_console_of_druid_asks_every_format_to_keep_nulls(
    written: dict[str, JsonValue],
) -> None:
    """Source: makeSamplerIoConfig and applyCache in sampler.ts; Druid reads it of json alone."""
    with_nulls = written | {"keepNullColumns": True}

    assert read_sample(from_the_console(with_nulls)) == read_sample(from_the_console(written))
    assert read_spec(changed("/spec/ioConfig/inputFormat", with_nulls)).warnings == ()


@given(memory=st.integers(-1, 2**40), response=st.integers(-1, 2**40), rows=st.integers(1, 5_000))
def test_the_lower_bound_counts(memory: int, response: int, rows: int) -> None:
    request = read(
        {"type": "kafka", "ioConfig": SOURCE},
        numRows=rows,
        maxBytesInMemory=memory,
        maxClientResponseBytes=response,
    )

    assert request.rows == rows
    assert 0 < request.size_bytes <= BYTES_MAX
    assert all(request.size_bytes <= bound for bound in (memory, response) if bound > 0)


def test_every_error_is_told_at_once_where_it_stands() -> None:
    with pytest.raises(InvalidSpec) as refused:
        read_sample(
            {
                "type": "kinesis",
                "spec": {"ioConfig": SOURCE | {"taskCount": 0}},
                "samplerConfig": {"numRows": 0},
                "more": 1,
            }
        )

    pointers = {error.pointer for error in refused.value.errors}
    assert pointers == {
        "/more",
        "/type",
        "/samplerConfig/numRows",
        "/spec/type",
        "/spec/ioConfig/taskCount",
    }
