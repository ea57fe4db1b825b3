"""Specs as users send them: a small real one, ways to change it, and any spec at all."""

import copy
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.sections.data_schema import DataSchema, TimestampField
from supervisor.core.spec.sections.dimensions import Dimension, DimensionsSpec
from supervisor.core.spec.sections.granularity import EVERYTHING, GranularitySpec, PeriodGranularity
from supervisor.core.spec.sections.index import IndexSpec
from supervisor.core.spec.sections.input_formats import JsonInputFormat
from supervisor.core.spec.sections.io_config import KafkaIoConfig
from supervisor.core.spec.sections.tuning_config import TuningConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, InvalidSpec
from supervisor.core.values.field_types import RESERVED_COLUMNS
from tasks.contract.ingest_spec import ColumnType, Granularity, UnfitValues

REMOVED = object()
"""In `changed`: take the field away."""

_CREATE: dict[str, object] = {
    "type": "kafka",
    "suspended": False,
    "spec": {
        "dataSchema": {
            "dataSource": "samples",
            "timestampSpec": {"column": "ts", "format": "iso"},
            "dimensionsSpec": {
                "dimensions": ["user", "page", {"type": "long", "name": "bytes"}, "ref"]
            },
            "metricsSpec": [],
            "granularitySpec": {
                "type": "uniform",
                "segmentGranularity": "HOUR",
                "queryGranularity": "NONE",
                "rollup": False,
            },
        },
        "ioConfig": {
            "topic": "samples",
            "inputFormat": {"type": "json"},
            "consumerProperties": {"bootstrap.servers": "127.0.0.1:19092"},
            "taskCount": 2,
            "replicas": 1,
            "taskDuration": "PT1M",
            "useEarliestOffset": True,
        },
        "tuningConfig": {
            "type": "kafka",
            "logParseExceptions": True,
            "maxSavedParseExceptions": 10,
        },
    },
}


def created() -> dict[str, object]:
    """Return a body that a client of Druid 33.0.0 posted, with fewer columns."""
    return copy.deepcopy(_CREATE)


def changed(pointer: str, value: object, document: object = None) -> dict[str, object]:
    """Return the document with `value` at `pointer`; objects on the way are made."""
    copied = created() if document is None else copy.deepcopy(document)
    assert isinstance(copied, dict)
    *way, last = pointer.split("/")[1:]
    at: object = copied
    for part in way:
        at = at[int(part)] if isinstance(at, list) else _inner(at, part)
    if isinstance(at, list):
        at[int(last)] = value
    elif value is REMOVED:
        assert isinstance(at, dict)
        del at[last]
    else:
        assert isinstance(at, dict)
        at[last] = value
    return copied


def _inner(at: object, part: str) -> object:
    assert isinstance(at, dict)
    return at.setdefault(part, {})


def flat(document: Mapping[str, object]) -> dict[str, object]:
    """Return the nested document with its sections at the top level instead."""
    flattened = dict(document)
    inner = flattened.pop("spec")
    assert isinstance(inner, dict)
    return flattened | inner


def errors_of(document: object) -> tuple[FieldError, ...]:
    """Return what `read_spec` finds wrong; nothing, if it accepts the document."""
    try:
        read_spec(document)
    except InvalidSpec as error:
        return error.errors
    return ()


_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}", fullmatch=True)
_columns = (
    st.text(min_size=1, max_size=20)
    .filter(str.isprintable)
    .filter(lambda name: name.lower() not in RESERVED_COLUMNS)
)
_rows = st.integers(1, 10**9)


def _durations(least: timedelta) -> st.SearchStrategy[timedelta]:
    return st.timedeltas(min_value=least, max_value=timedelta(days=9_000))


_SECOND = timedelta(seconds=1)
_numbers = st.floats(allow_nan=False, allow_infinity=False)  # the reader takes no other
_indexes = st.builds(
    IndexSpec,
    dimension_compression=st.sampled_from(["lz4", "lzf", "zstd", "uncompressed", "none"]),
    zstd_level=st.integers(1, 19),
    dictionary_encoding=st.booleans() | st.just(("user", "page")),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | _numbers,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_properties = st.fixed_dictionaries(
    {"bootstrap.servers": st.sampled_from(["kafka:9092", "a:1, b:2", "[::1]:9092"])},
    optional={
        "client.id": st.from_regex(r"[a-z]{1,9}", fullmatch=True),
        "fetch.min.bytes": st.integers(1, 1000) | st.integers(1, 1000).map(str),
        "isolation.level": st.just("read_committed"),
    },
)


@st.composite
def _schemas(draw: st.DrawFn) -> DataSchema:
    names = draw(st.lists(_columns, max_size=6, unique_by=str.lower))
    split = draw(st.integers(0, len(names)))
    kinds: tuple[ColumnType, ...] = ("string", "long", "float", "double", "array<string>")
    types = st.sampled_from(kinds)
    moments = st.datetimes(
        min_value=datetime(1, 1, 2),  # noqa: DTZ001 -- hypothesis adds the zone
        max_value=datetime(9999, 12, 30),  # noqa: DTZ001 -- same
        timezones=st.just(UTC),
    )
    return DataSchema(
        data_source=draw(_names.filter(lambda n: n.lower() not in {"con", "prn", "aux", "nul"})),
        timestamp_spec=TimestampField(
            column=draw(st.sampled_from(["ts", *names])),
            format=draw(st.sampled_from(["iso", "millis", "posix", "auto"])),
            missing_value=draw(st.none() | moments),
        ),
        dimensions_spec=DimensionsSpec(
            dimensions=tuple(Dimension(name=n, type=draw(types)) for n in names[:split]),
            dimension_exclusions=tuple(names[split:]),
            include_all_dimensions=draw(st.booleans()),
            use_schema_discovery=draw(st.booleans()),
        ),
        granularity_spec=draw(_granularities(moments)),
    )


@st.composite
def _granularities(draw: st.DrawFn, moments: st.SearchStrategy[datetime]) -> GranularitySpec:
    zones = st.sampled_from(["UTC", "+05:30", "Europe/Berlin"])
    origins = st.none() | moments.map(lambda moment: moment.replace(microsecond=0))
    # None of them has a name: those are read as that.
    periods = st.builds(
        lambda period, zone, origin: PeriodGranularity(
            period=period, time_zone=zone, origin=origin
        ),
        *(st.sampled_from(["PT2H", "P2D", "P5M"]), zones, origins),
    )
    segment = draw(st.sampled_from(Granularity) | periods)
    query = st.none() | periods
    if segment is Granularity.ALL:
        query |= st.just(EVERYTHING)
    return GranularitySpec(segment_granularity=segment, query_granularity=draw(query))


@st.composite
def specs(draw: st.DrawFn) -> SupervisorSpec:
    """Any valid spec."""
    io_config = KafkaIoConfig(
        topic=draw(_names),
        consumer_properties={**draw(_properties)},
        input_format=JsonInputFormat(),
        task_count=draw(st.integers(1, 1000)),
        replicas=draw(st.integers(1, 10)),
        task_duration=draw(_durations(_SECOND)),
        start_delay=draw(_durations(timedelta(0))),
        period=draw(_durations(_SECOND)),
        use_earliest_offset=draw(st.booleans()),
        completion_timeout=draw(_durations(_SECOND)),
        stop_task_count=draw(st.none() | st.integers(1, 1000)),
        late_message_rejection_period=draw(st.none() | _durations(_SECOND)),
        early_message_rejection_period=draw(st.none() | _durations(_SECOND)),
    )
    least, most = sorted(draw(st.tuples(_rows, _rows)))
    tuning_config = TuningConfig(
        max_rows_per_segment=draw(_rows),
        target_segment_bytes=draw(st.integers(2**20, 2**40)),
        index_spec=draw(_indexes),
        unfit_values=draw(st.sampled_from(UnfitValues)),
        max_saved_parse_exceptions=draw(st.integers(0, 1000)),
        max_total_rows=draw(st.integers(1, 2**63 - 1)),
        intermediate_handoff_period=draw(st.none() | _durations(_SECOND)),
        batch_target=draw(_durations(_SECOND)),
        batch_rows_min=least,
        batch_rows_max=most,
        linger=draw(_durations(timedelta(0))),
    )
    safe = _names.filter(lambda n: n.lower() not in {"con", "prn", "aux", "nul"})
    schema = draw(_schemas())
    return SupervisorSpec(
        data_schema=schema,
        id=draw(safe | st.just(schema.data_source)),
        io_config=io_config,
        tuning_config=tuning_config,
        context=draw(st.dictionaries(_names, _json, max_size=3)),
        suspended=draw(st.booleans()),
    )
