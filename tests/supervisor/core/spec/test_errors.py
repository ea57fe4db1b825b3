"""Specs that are refused, or accepted with a warning: each says where, what, and what to do."""

import pytest

from supervisor.core.spec.problems import NOTES_MAX
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.section import Ignored
from supervisor.core.spec.sections.tuning_config import TuningConfig
from tests.supervisor.core.spec.spec_documents import REMOVED, changed, created, errors_of, flat

_DATA = "/spec/dataSchema"
_DIMENSIONS = f"{_DATA}/dimensionsSpec/dimensions"
_GRANULARITY = f"{_DATA}/granularitySpec"
_IO = "/spec/ioConfig"
_TUNING = "/spec/tuningConfig"

# Where the change is made, to what, and words that the error there has (message, then hint).
WRONG: list[tuple[str, object, str, str]] = [
    ("/type", REMOVED, "type is required", '"type": "kafka"'),
    ("/type", "nope", "unknown supervisor type nope", "known types: kafka"),
    ("/id", "a/b", "is not a name", "choose a name"),
    ("/id", 7, "must be a text", ""),
    ("/suspended", "yes", "must be true or false", ""),
    ("/suspended", "1", "must be true or false", ""),
    ("/suspended", 1, "must be true or false", ""),
    ("/context", ["a"], "must be an object", ""),
    ("/context/spark.jars", "http://x/y.jar", "set up by the operator", "remove it"),
    ("/spce", {}, "unknown field spce", "did you mean spec?"),
    ("/spec", "text", "must be an object", "dataSchema"),
    ("/spec/ioConfg", {}, "unknown field ioConfg", "did you mean ioConfig?"),
    ("/spec/topic", "t", "unknown field topic", "it belongs in ioConfig"),
    (f"{_DATA}/rollup", True, "unknown field rollup", "it belongs in dataSchema.granularitySpec"),
    (f"{_DATA}/taskDuration", "PT1H", "unknown field taskDuration", "it belongs in ioConfig"),
    (f"{_IO}/inputFormat/timestampSpec", {}, "unknown field", "it belongs in dataSchema"),
    (f"{_IO}/consumerProperties/useEarliestOffset", True, "not a property", "belongs in ioConfig"),
    (_DATA, REMOVED, "dataSchema is required", "dataSource"),
    (_DATA, [], "must be an object", "dataSource"),
    (f"{_DATA}/dataSource", REMOVED, "dataSource is required", "name the table"),
    (f"{_DATA}/dataSource", "", "must not be empty", "choose a name"),
    (f"{_DATA}/dataSource", "../up", "is not a name", "choose a name"),
    (f"{_DATA}/dataSource", "clicks__errors", "quarantined records", "choose another name"),
    (f"{_DATA}/dataSource", "Clicks__Errors", "quarantined records", "choose another name"),
    (f"{_TUNING}/badRecords", "quarantaine", "quarantaine is no way", "did you mean quarantine?"),
    (f"{_TUNING}/badRecords", "x", "x is no way", "quarantine, drop, warn, fail"),
    (f"{_TUNING}/badRecords", True, "must be a text", "quarantine, drop, warn, fail"),
    (f"{_TUNING}/unfitValues", "drop", "drop is no way to treat unfit values", "null, quarantine"),
    (f"{_TUNING}/unfitValues", "quarantin", "quarantin is no way", "did you mean quarantine?"),
    (f"{_TUNING}/unfitValues", False, "must be a text", "null, quarantine"),
    (f"{_TUNING}/targetSegmentBytes", 0, "must be at least 1048576", ""),
    (f"{_TUNING}/targetSegmentBytes", -1, "must be at least 1048576", ""),
    (f"{_TUNING}/targetSegmentBytes", 2**50, "must be at most 1099511627776", ""),
    (f"{_TUNING}/targetSegmentBytes", "256 MiB", "must be a whole number", ""),
    (f"{_TUNING}/targetSegmentByte", 1, "unknown field", "did you mean targetSegmentBytes?"),
    (f"{_DATA}/timestampSpec", REMOVED, "timestampSpec is required", "column"),
    (f"{_DATA}/timestampSpec/format", "nanos", "timestamp format nanos", "did you mean nano?"),
    (f"{_DATA}/timestampSpec/format", "yyyy-bb", "'b' is no letter", "in quotes"),
    (f"{_DATA}/timestampSpec/format", 5, "must be a text", ""),
    (f"{_DATA}/timestampSpec/missingValue", 0, "must be an ISO 8601 time", "2000-01-01"),
    (f"{_DATA}/timestampSpec/missingValue", "soon", "soon is not an ISO 8601 time", "2000-01-01"),
    (f"{_DATA}/timestampSpec/colum", "ts", "unknown field colum", "did you mean column?"),
    (_DIMENSIONS, "user", "must be a list", ""),
    (_DIMENSIONS, ["a", "b", "a"], "Cannot specify a column more than once: [a]", "once"),
    (_DIMENSIONS, ["user", "User"], "[user] and [User] differ in case only", "keep one"),
    (f"{_DIMENSIONS}/0", "", "must not be empty", ""),
    (f"{_DIMENSIONS}/0", "x" * 201, "has 201 characters", "at most 200"),
    (f"{_DIMENSIONS}/0", "a\nb", "control characters", ""),
    (f"{_DIMENSIONS}/0", "__time", "column __time is reserved", "timestampSpec"),
    (f"{_DIMENSIONS}/0", "__OFFSET", "column __OFFSET is reserved", "another name"),
    (f"{_DIMENSIONS}/0", "__at", "column __at is reserved", "another name"),
    (f"{_DIMENSIONS}/0", "__Of_users", "column __Of_users is reserved", "another name"),
    (f"{_DIMENSIONS}/0", "__each_users", "column __each_users is reserved", "another name"),
    (f"{_DIMENSIONS}/0", "__count", "column __count is reserved", "another name"),
    (f"{_DIMENSIONS}/0", 5, "must be an object", ""),
    (f"{_DIMENSIONS}/2/name", "__partition", "is reserved", "another name"),
    (f"{_DIMENSIONS}/2/name", REMOVED, "name is required", "name the column"),
    (f"{_DIMENSIONS}/2/type", "spatial", "spatial is not built yet", "string, long, float, double"),
    (f"{_DIMENSIONS}/2/type", "decimal", "decimal is not a type", "string, long, float, double"),
    (f"{_DIMENSIONS}/2/nmae", "x", "unknown field nmae", "did you mean name?"),
    (f"{_DATA}/dimensionsSpec/useSchemaDiscovery", "yes", "must be true or false", ""),
    (f"{_DATA}/dimensionsSpec/includeAllDimensions", 1, "must be true or false", ""),
    (f"{_DATA}/projections", [{"type": "aggregate"}], "not built yet", "leave it out"),
    (f"{_DATA}/transformSpec", [], "must be an object", ""),
    (f"{_DATA}/transformSpec/filtr", {}, "unknown field filtr", "did you mean filter?"),
    (f"{_GRANULARITY}/type", "arbitrary", "must be uniform, not arbitrary", "uniform"),
    (f"{_GRANULARITY}/rollup", "yes", "must be true or false", ""),
    (
        f"{_GRANULARITY}/queryGranularity",
        "HUOR",
        "HUOR is not a granularity; HOUR is",
        "or a period",
    ),
    (f"{_GRANULARITY}/queryGranularity", "ALL", "every row one time", "segmentGranularity ALL"),
    (f"{_GRANULARITY}/queryGranularity", {"type": "period", "period": "P1X"}, "P1X", ""),
    (f"{_GRANULARITY}/intervals", ["2020/2021"], "not built yet", "leave it empty"),
    (f"{_GRANULARITY}/segmentGranularity", "none", "NONE has no time chunks", "HOUR, SIX_HOUR"),
    (f"{_GRANULARITY}/segmentGranularity", 5, "not a segment granularity", "HOUR, SIX_HOUR"),
    (f"{_GRANULARITY}/segmentGranularity", "HUOR", "; HOUR is", "HOUR, SIX_HOUR"),
    (
        f"{_GRANULARITY}/segmentGranularity",
        {"type": "period", "period": "PT1H", "timeZone": "Europe/Berln"},
        "is no time zone",
        "did you mean Europe/Berlin?",
    ),
    (
        f"{_GRANULARITY}/segmentGranularity",
        {"type": "period", "period": "P1M1D"},
        "no fixed place in the calendar",
        "either years and months",
    ),
    (
        f"{_GRANULARITY}/segmentGranularity",
        {"type": "duration", "duration": 1500},
        "whole seconds",
        "a longer period",
    ),
    (
        f"{_GRANULARITY}/segmentGranularity",
        {"type": "period", "period": "P1D", "origin": "2024-01-01T00:00:00.5Z"},
        "whole seconds",
        "without a fraction",
    ),
    (_IO, REMOVED, "ioConfig is required", "topic"),
    (f"{_IO}/topic", REMOVED, "topic is required", "name the Kafka topic"),
    (f"{_IO}/topic", "a b", "not the name of a Kafka topic", "249"),
    (f"{_IO}/topic", "..", "not the name of a Kafka topic", "249"),
    (f"{_IO}/stream", "other", "stream and topic say different things", "change topic"),
    (f"{_IO}/useEarliestSequenceNumber", False, "different things", "change useEarliestOffset"),
    (f"{_IO}/topicPattern", "a.*", "topic is given as well", "keep one"),
    (f"{_IO}/type", "kinesis", "must be kafka", "kafka"),
    (f"{_IO}/taskCount", 0, "must be at least 1", ""),
    (f"{_IO}/taskCount", 1001, "must be at most 1000", ""),
    (f"{_IO}/taskCount", "two", "must be a whole number", ""),
    (f"{_IO}/taskCount", "2.0", "must be a whole number", ""),
    (f"{_IO}/taskCount", "1001", "must be at most 1000", ""),
    (f"{_IO}/taskCount", "true", "must be a whole number", ""),
    (f"{_IO}/taskCount", 1.5, "must be a whole number", ""),
    (f"{_IO}/taskCount", 2.0, "must be a whole number", ""),
    (f"{_IO}/taskCount", True, "must be a whole number", ""),
    (f"{_IO}/replicas", 0, "must be at least 1", ""),
    (f"{_IO}/replicas", 11, "must be at most 10", ""),
    (f"{_IO}/stopTaskCount", 0, "must be at least 1", ""),
    (f"{_IO}/useEarliestOffset", "yes", "must be true or false", ""),
    (f"{_IO}/useEarliestOffest", True, "unknown field", "did you mean useEarliestOffset?"),
    (f"{_IO}/noSuchField", 1, "unknown field noSuchField", "known fields: boundedStreamConfig"),
    (f"{_IO}/a~1b", 1, "unknown field a~1b", "known fields"),
    (f"{_IO}/taskDuration", "one hour", "one hour is not an ISO 8601 duration", "PT1M"),
    (f"{_IO}/taskDuration", 60, "must be an ISO 8601 duration as text", "PT1M"),
    (f"{_IO}/taskDuration", "PT0S", "PT0S is too short", "at least PT1S"),
    (f"{_IO}/taskDuration", "PT0.9S", "too short", "at least PT1S"),
    (f"{_IO}/taskDuration", "-PT1M", "negative", "PT1M"),
    (f"{_IO}/taskDuration", "P1M", "months and years have no fixed length", "days"),
    (f"{_IO}/taskDuration", "PT1000000000S", "too long", "31 years"),
    (f"{_IO}/period", "PT0S", "too short", "at least PT1S"),
    (f"{_IO}/completionTimeout", "PT0S", "too short", "at least PT1S"),
    (f"{_IO}/inputFormat", REMOVED, "inputFormat is required", '{"type": "json"}'),
    (f"{_IO}/inputFormat/type", "orc", "orc is not built yet", "use one of json, csv, tsv"),
    (f"{_IO}/inputFormat/type", "jsno", "jsno is not an input format", "use one of json"),
    (f"{_IO}/inputFormat/type", REMOVED, "type is required", "use one of json"),
    (f"{_IO}/inputFormat/featureSpec", {"ALLOW_COMMENTS": True}, "not built yet", "leave it out"),
    (f"{_IO}/autoScalerConfig", {"enableTaskAutoScaler": True}, "not built yet", "taskCount"),
    (f"{_IO}/autoScalerConfig", "on", "not built yet", "taskCount"),
    (f"{_IO}/idleConfig", "on", "must be an object", ""),
    (f"{_IO}/idleConfig/enabeld", True, "unknown field", "enabled"),
    (f"{_IO}/idleConfig/enabled", "yes", "must be true or false", ""),
    (f"{_IO}/idleConfig/inactiveAfterMillis", 0, "must be at least 1", ""),
    (f"{_IO}/lateMessageRejectionPeriod", "1 h", "is not an ISO 8601 duration", "such as"),
    (f"{_IO}/earlyMessageRejectionPeriod", "P1M", "months and years", "in days"),
    (f"{_IO}/lateMessageRejectionStartDateTime", "2020", "is not an ISO 8601 time", "2000-01"),
    (f"{_IO}/consumerProperties", REMOVED, "is required", "bootstrap.servers"),
    (f"{_IO}/consumerProperties", "kafka:9092", "must be an object", "bootstrap.servers"),
    (_TUNING, [], "must be an object", ""),
    (f"{_TUNING}/type", "kinesis", "must be 'kafka'", ""),
    (f"{_TUNING}/maxRowsPerSegment", 0, "must be at least 1", ""),
    (f"{_TUNING}/maxSavedParseExceptions", 1001, "must be at most 1000", ""),
    (f"{_TUNING}/batchTarget", "PT0S", "too short", "PT0.1S"),
    (f"{_TUNING}/linger", 5, "must be an ISO 8601 duration as text", "PT30S"),
    (f"{_TUNING}/maxTotalRows", 0, "must be at least 1", ""),
    (f"{_TUNING}/maxTotalRows", "many", "must be a whole number", ""),
    (f"{_TUNING}/intermediateHandoffPeriod", "PT0.5S", "too short", "PT1S"),
    (f"{_TUNING}/intermediateHandoffPeriod", "P1M", "months and years", "in days"),
    (f"{_TUNING}/intermediateHandoffPeriod", 60, "ISO 8601 duration as text", "PT30S"),
    (f"{_TUNING}/resetOffsetAutomatically", "yes", "must be true or false", ""),
    (f"{_TUNING}/reportParseExceptions", True, "not built yet", "set maxParseExceptions to 0"),
    (f"{_TUNING}/maxParseExceptions", -1, "must be at least 0", ""),
    (f"{_TUNING}/skipSequenceNumberAvailabilityCheck", True, "not built yet", "leave it out"),
    (f"{_TUNING}/maxRowPerSegment", 5, "unknown field", "did you mean maxRowsPerSegment?"),
]


@pytest.mark.parametrize(
    ("pointer", "value", "message", "hint"),
    WRONG,
    ids=[f"{number}-{pointer}" for number, (pointer, *_) in enumerate(WRONG)],
)
def test_a_wrong_field_is_named_with_what_to_do(
    pointer: str, value: object, message: str, hint: str
) -> None:
    errors = errors_of(changed(pointer, value))
    place = pointer.replace("a~1b", "a~01b")
    at_place = [error for error in errors if error.pointer == place]
    assert len(at_place) == 1, errors
    assert message in at_place[0].message
    assert hint in at_place[0].hint
    assert errors == tuple(at_place)


def test_fields_that_contradict_each_other_are_refused_where_they_stand() -> None:
    excluded = changed(f"{_DATA}/dimensionsSpec/dimensionExclusions", ["user"])
    assert [(e.pointer, e.message) for e in errors_of(excluded)] == [
        (f"{_DATA}/dimensionsSpec", "column [user] is both a dimension and excluded")
    ]
    rows = changed(f"{_TUNING}/batchRowsMin", 600_000)
    assert [(e.pointer, e.message) for e in errors_of(rows)] == [
        (_TUNING, "batchRowsMin 600000 is more than batchRowsMax 500000")
    ]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    document = changed("/type", "nope")
    document = changed("/suspended", "no", document)
    document = changed(f"{_DATA}/dataSource", "a/b", document)
    document = changed(f"{_DATA}/granularitySpec/rollup", "yes", document)
    document = changed(f"{_IO}/taskDuration", "P1M", document)
    document = changed(f"{_IO}/replicas", 0, document)
    document = changed(f"{_IO}/nothing", 0, document)
    document = changed(f"{_IO}/consumerProperties/group.id", "mine", document)
    document = changed(f"{_TUNING}/linger", 5, document)
    assert {error.pointer for error in errors_of(document)} == {
        "/type",
        "/suspended",
        f"{_DATA}/dataSource",
        f"{_DATA}/granularitySpec/rollup",
        f"{_IO}/taskDuration",
        f"{_IO}/replicas",
        f"{_IO}/nothing",
        f"{_IO}/consumerProperties/group.id",
        f"{_TUNING}/linger",
    }


def test_in_the_flat_form_pointers_have_no_spec_in_front() -> None:
    document = changed("/ioConfig/taskDuration", "P1M", flat(created()))
    document = changed("/ioConfig/consumerProperties/debug", "all", document)
    assert {error.pointer for error in errors_of(document)} == {
        "/ioConfig/taskDuration",
        "/ioConfig/consumerProperties/debug",
    }


def test_metrics_without_a_word_on_rollup_ask_for_one() -> None:
    """Goal: nobody who comes from Druid gets unaggregated rows by surprise."""
    metric = [{"type": "longSum", "name": "user", "fieldName": "bytes"}]
    document = changed(f"{_DATA}/metricsSpec", metric, changed(f"{_GRANULARITY}/rollup", REMOVED))
    errors = {error.pointer: error.message for error in errors_of(document)}
    assert errors == {
        f"{_GRANULARITY}/rollup": "metricsSpec is given, so say rollup true or false",
        f"{_DATA}/metricsSpec/0": (
            "Cannot specify a column more than once: [user] seen in dimensions list, "
            "metricsSpec list"
        ),
    }


@pytest.mark.parametrize("document", [None, [], "text", 5, True])
def test_what_is_no_object_is_no_spec(document: object) -> None:
    assert [error.message for error in errors_of(document)] == ["a spec must be an object"]


def test_an_empty_object_is_told_what_a_spec_is_made_of() -> None:
    assert {error.pointer for error in errors_of({})} == {
        "/type",
        "/spec/dataSchema",
        "/spec/ioConfig",
    }


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (f"{_TUNING}/maxRowsInMemory", 5),
        (f"{_TUNING}/maxRowsInMemory", -5),
        (f"{_TUNING}/indexSpec/bitmap", {"type": "concise"}),
        (f"{_TUNING}/handoffConditionTimeout", 0),
        (f"{_TUNING}/chatRetries", 9),
        (f"{_TUNING}/releaseLocksOnHandoff", True),
        (f"{_IO}/pollTimeout", 50),
        (f"{_IO}/lagAggregator", {"type": "mine"}),
        (f"{_IO}/autoScalerConfig", {"enableTaskAutoScaler": False, "taskCountMax": 3}),
        (f"{_DIMENSIONS}/2/createBitmapIndex", True),
        (f"{_DIMENSIONS}/2/multiValueHandling", "ARRAY"),
        ("/context/priority", 75),
        ("/context/useConcurrentLocks", True),
        ("/context/debug", "yes"),
    ],
)
def test_a_field_without_a_meaning_here_is_accepted_with_a_warning(
    pointer: str, value: object
) -> None:
    read = read_spec(changed(pointer, value))
    assert len(read.warnings) == 1
    assert read.warnings[0].startswith(pointer)
    assert "no effect" in read.warnings[0]
    context = {pointer.rpartition("/")[2]: value} if pointer.startswith("/context") else {}
    assert read.spec.model_copy(update={"context": {}}) == read_spec(created()).spec
    assert read.spec.context == context


def test_debug_in_the_context_keeps_all_reports_and_logs() -> None:
    read = read_spec(changed("/context/debug", True))

    assert (read.warnings, read.spec.debug) == ((), True)
    assert not read_spec(changed("/context/debug", False)).spec.debug
    assert not read_spec(changed("/context/debug", "yes")).spec.debug


@pytest.mark.parametrize("name", ["assumeNewlineDelimited", "useJsonNodeReader"])
def test_a_reader_of_several_objects_is_accepted_and_told_that_there_are_none(name: str) -> None:
    """Source: Druid's JsonInputFormat: both differ only where a record holds several."""
    plain = read_spec(changed(f"{_IO}/inputFormat/{name}", False))
    enabled = read_spec(changed(f"{_IO}/inputFormat/{name}", True))
    assert enabled.spec == plain.spec
    assert plain.warnings == ()
    [warning] = enabled.warnings
    assert warning.startswith(f"{_IO}/inputFormat/{name} has no effect here: ")
    assert "one JSON object, and one with several is rejected as not-json" in warning


@pytest.mark.parametrize(
    ("name", "silent"),
    [(n, other.silent) for n, other in TuningConfig.others.items() if isinstance(other, Ignored)],
)
def test_no_value_of_an_ignored_field_is_kept_as_a_surprise(
    name: str, silent: tuple[object, ...]
) -> None:
    quiet = [read_spec(changed(f"{_TUNING}/{name}", value)) for value in silent]
    assert [read.warnings for read in quiet] == [()] * len(quiet)
    loud = read_spec(changed(f"{_TUNING}/{name}", {"other": 1}))
    assert loud.warnings == (f"{_TUNING}/{name} has no effect here: it is accepted and ignored",)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (f"{_GRANULARITY}/queryGranularity", {"type": "none"}),
        (f"{_GRANULARITY}/queryGranularity", "none"),
        (f"{_GRANULARITY}/segmentGranularity", "hour"),
        (f"{_GRANULARITY}/segmentGranularity", {"type": "period", "period": "PT1H"}),
        (
            f"{_GRANULARITY}/segmentGranularity",
            {"type": "period", "period": "PT1H", "timeZone": "UTC", "origin": None},
        ),
        (
            f"{_GRANULARITY}/segmentGranularity",
            {"type": "period", "period": "PT1H", "timeZone": None},
        ),
        (f"{_GRANULARITY}/intervals", None),
        (f"{_DATA}/transformSpec", {}),
        (f"{_DATA}/transformSpec", {"transforms": []}),
        (f"{_DATA}/dimensionsSpec/dimensionExclusions", ["ts", "__time", "ts"]),
        (f"{_IO}/inputFormat/flattenSpec", {"fields": [], "useFieldDiscovery": True}),
        (f"{_IO}/type", "kafka"),
        (f"{_IO}/stream", "samples"),
        (f"{_IO}/configOverrides", {}),
        (f"{_TUNING}/maxTotalRows", 20_000_000),
        (f"{_TUNING}/maxTotalRows", None),
        (f"{_TUNING}/intermediateHandoffPeriod", "P2147483647D"),
        (f"{_TUNING}/intermediateHandoffPeriod", None),
        ("/spec/type", "kafka"),
    ],
)
def test_another_way_to_say_the_same_is_the_same(pointer: str, value: object) -> None:
    read = read_spec(changed(pointer, value))
    assert read.spec == read_spec(created()).spec
    assert read.warnings == ()


@pytest.mark.parametrize("field", ["segmentGranularity", "queryGranularity"])
@pytest.mark.parametrize("member", ["period", "duration"])
def test_a_granularity_without_its_length_is_told_what_is_missing(field: str, member: str) -> None:
    errors = errors_of(changed(f"{_GRANULARITY}/{field}", {"type": member}))
    assert [(error.pointer, error.message) for error in errors] == [
        (f"{_GRANULARITY}/{field}", f"{member} is required")
    ]


def test_one_is_not_taken_for_true_nor_zero_for_false() -> None:
    errors = errors_of(changed(f"{_TUNING}/resetOffsetAutomatically", 0))
    assert [error.pointer for error in errors] == [f"{_TUNING}/resetOffsetAutomatically"]


def test_a_flood_of_errors_is_bounded() -> None:
    document = created()
    for number in range(NOTES_MAX + 500):
        document[f"field{number}"] = number
    errors = errors_of(document)
    assert len(errors) == NOTES_MAX + 1
    assert errors[-1].message == f"more than {NOTES_MAX} errors"
