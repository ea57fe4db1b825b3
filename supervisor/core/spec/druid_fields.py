"""Which fields of Druid's spec mean something here, which mean nothing, which are not built yet.

One `Table` per object of the document.  A field in no part of it is unknown, and refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from supervisor.core.values.field_types import UNLIMITED

OWN = frozenset(
    {
        *("id", "exports", "badRecords", "unfitValues"),
        *("targetSegmentBytes", "zstdLevel", "dictionaryEncoding"),
        *("batchTarget", "batchRowsMin", "batchRowsMax", "linger"),
    }
)
"""Fields that Druid does not have."""
_INDEX_SPEC: dict[str, object] = {
    "bitmap": {"type": "roaring"},
    "dimensionCompression": "lz4",
    "stringDictionaryEncoding": {"type": "utf8"},
    "metricCompression": "lz4",
    "longEncoding": "longs",
}


@dataclass(frozen=True)
class Unbuilt:
    """A field with a meaning that Tidegate does not have yet."""

    instead: str
    """What to do about it."""
    silent: tuple[object, ...] = ()
    """Values that ask for nothing, as null does; nulls and [] within an object do not count."""


@dataclass(frozen=True)
class Table:
    """The known fields of one object; `idle` and `fixed` name the values that pass in silence."""

    kept: frozenset[str]
    """Read by the spec's models."""
    idle: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Without a meaning here: any other value is accepted with a warning."""
    unbuilt: Mapping[str, Unbuilt] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    """One text is allowed, another is refused."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Second names that Druid writes: must agree with the first."""
    switched: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Not built: the flag that switches such a section on, and what to do instead."""
    older: Mapping[str, str] = field(default_factory=dict)
    """An older form: the fields as which it is read, before any other is looked at."""
    because: Mapping[str, str] = field(default_factory=dict)
    """Of idle fields whose other values ask for something: what happens in its place."""

    @property
    def known(self) -> tuple[str, ...]:
        """Every field, the ones that mean something first."""
        idle = (*self.aliases, *self.fixed, *self.unbuilt, *self.switched, *self.idle)
        return (*sorted(self.kept), *idle, *self.older)


SECTIONS = ("dataSchema", "ioConfig", "tuningConfig")

ENVELOPE = Table(
    kept=frozenset({"type", "id", "spec", "context", "suspended", *SECTIONS}),
)
NESTED = Table(kept=frozenset(SECTIONS), fixed={"type": "kafka"})

DATA_SCHEMA = Table(
    kept=frozenset(
        {
            *("dataSource", "timestampSpec", "dimensionsSpec", "metricsSpec"),
            *("granularitySpec", "transformSpec", "exports"),
        }
    ),
    unbuilt={
        "projections": Unbuilt("leave it out", ([],)),
    },
    older={"parser": "timestampSpec, dimensionsSpec and the ioConfig's inputFormat"},
)
TIMESTAMP = Table(kept=frozenset({"column", "format", "missingValue"}))
DIMENSIONS = Table(
    kept=frozenset(
        {"dimensions", "dimensionExclusions", "includeAllDimensions", "useSchemaDiscovery"}
    ),
    unbuilt={
        "spatialDimensions": Unbuilt("leave it out", ([],)),
    },
    idle={"forceSegmentSortByTime": (True,)},
)
_STORED: Mapping[str, tuple[object, ...]] = {
    "multiValueHandling": ("SORTED_ARRAY",),
    "createBitmapIndex": (True,),
    "columnFormatSpec": ({},),
}
TEXT_DIMENSION = Table(
    kept=frozenset({"type", "name"}),
    unbuilt={"maxStringLength": Unbuilt("cut the text with a transform: substring(name, 0, 100)")},
    idle=_STORED,
    because={"columnFormatSpec": "the indexSpec says how columns are stored, and no text is cut"},
)
NUMBER_DIMENSION = Table(
    kept=TEXT_DIMENSION.kept,
    idle={"multiValueHandling": ("SORTED_ARRAY",), "createBitmapIndex": (False,)},
)
JSON_DIMENSION = Table(
    kept=TEXT_DIMENSION.kept,
    # Druid writes true and 5; our own GET writes false.
    idle={**_STORED, "createBitmapIndex": (True, False), "formatVersion": (5,)},
)
AUTO_DIMENSION = Table(kept=frozenset({"type", "name", "castToType"}), idle=_STORED)
DIMENSION_TYPES: Mapping[str, Table] = {
    "string": TEXT_DIMENSION,
    "auto": AUTO_DIMENSION,
    "json": JSON_DIMENSION,
    **dict.fromkeys(("long", "float", "double"), NUMBER_DIMENSION),
    **dict.fromkeys(("array<long>", "array<double>", "array<string>"), NUMBER_DIMENSION),
}
"""Dimensions, by type."""
GRANULARITY = Table(
    kept=frozenset({"segmentGranularity", "queryGranularity", "rollup"}),
    fixed={"type": "uniform"},
    unbuilt={
        "intervals": Unbuilt("leave it empty: a stream has no fixed intervals", ([],)),
    },
)

IO_CONFIG = Table(
    kept=frozenset(
        {
            "topic",
            "topicPattern",
            "consumerProperties",
            "inputFormat",
            "taskCount",
            "replicas",
            "taskDuration",
            "startDelay",
            "period",
            "useEarliestOffset",
            "completionTimeout",
            "stopTaskCount",
            "lateMessageRejectionPeriod",
            "lateMessageRejectionStartDateTime",
            "earlyMessageRejectionPeriod",
            "boundedStreamConfig",
            "idleConfig",
        }
    ),
    fixed={"type": "kafka"},
    aliases={"stream": "topic", "useEarliestSequenceNumber": "useEarliestOffset"},
    unbuilt={
        "configOverrides": Unbuilt("leave it out", ({},)),
        "serverPriorityToReplicas": Unbuilt("use replicas", ({},)),
    },
    switched={
        "autoScalerConfig": ("enableTaskAutoScaler", "leave it out and set taskCount"),
    },
    idle={
        "pollTimeout": (100,),
        "emitTimeLagMetrics": (False,),
        "lagAggregator": ({"type": "default"},),
        "skipOffsetGaps": (False, True),  # of Druid 0.14 and before
        "appendToExisting": (False, True),  # of batch ingestion, and in many specs all the same
    },
)
IDLE = Table(kept=frozenset({"enabled", "inactiveAfterMillis"}))
BOUNDED = Table(kept=frozenset({"startSequenceNumbers", "endSequenceNumbers"}))
_NULLS: Mapping[str, tuple[object, ...]] = {"keepNullColumns": (False, True)}
"""Druid has it for json alone, and its console writes it into any format."""
_ONE_OBJECT = "a record is one JSON object, and one with several is rejected as not-json"
JSON_FORMAT = Table(
    kept=frozenset({"type", "flattenSpec"}),
    unbuilt={"featureSpec": Unbuilt("leave it out", ({},))},
    idle={**_NULLS, "assumeNewlineDelimited": (False,), "useJsonNodeReader": (False,)},
    because={"assumeNewlineDelimited": _ONE_OBJECT, "useJsonNodeReader": _ONE_OBJECT},
)
FLATTEN = Table(kept=frozenset({"useFieldDiscovery", "fields"}))
FLATTEN_FIELD = Table(kept=frozenset({"type", "name", "expr", "nodes"}))
_ONE_LINE = {
    "findColumnsFromHeader": Unbuilt("a record has no header: name the columns", (False,)),
    "hasHeaderRow": Unbuilt("a record has no header: name the columns", (False,)),
    "skipHeaderRows": Unbuilt("a record is one line: leave it out", (0,)),
    "tryParseNumbers": Unbuilt("give the dimensions types instead", (False,)),
}
CSV_FORMAT = Table(
    kept=frozenset({"type", "columns", "listDelimiter"}), unbuilt=_ONE_LINE, idle=_NULLS
)
TSV_FORMAT = Table(
    kept=CSV_FORMAT.kept | {"delimiter"},
    unbuilt=_ONE_LINE,
    idle=_NULLS,
)
REGEX_FORMAT = Table(kept=CSV_FORMAT.kept | {"pattern"}, idle=_NULLS)
AVRO_FORMAT = Table(
    kept=frozenset(
        {"type", "avroBytesDecoder", "flattenSpec", "binaryAsString", "extractUnionsByType"}
    ),
    idle=_NULLS,
)
AVRO_DECODERS = {
    "schema_inline": Table(kept=frozenset({"type", "schema"})),
    "multiple_schemas_inline": Table(kept=frozenset({"type", "schemas"})),
    "schema_registry": Table(
        kept=frozenset({"type", "url", "urls", "config", "headers"}),
        idle={"capacity": (UNLIMITED,)},
    ),
}
"""Ways to find the schema of a record, by name."""
PROTOBUF_FORMAT = Table(kept=frozenset({"type", "protoBytesDecoder", "flattenSpec"}), idle=_NULLS)
PROTOBUF_DECODERS = {
    "inline": Table(kept=frozenset({"type", "descriptorString", "protoMessageType"})),
    "schema_registry": AVRO_DECODERS["schema_registry"],
}
"""Ways to find the message of a record, by name."""
KAFKA_FORMAT = Table(
    kept=frozenset(
        {
            "type",
            "valueFormat",
            "keyFormat",
            "headerFormat",
            "headerColumnPrefix",
            "keyColumnName",
            "timestampColumnName",
            "topicColumnName",
        }
    ),
    idle=_NULLS,
)
VALUE_FORMATS = {
    "json": JSON_FORMAT,
    "csv": CSV_FORMAT,
    "tsv": TSV_FORMAT,
    "regex": REGEX_FORMAT,
    "avro_stream": AVRO_FORMAT,
    "protobuf": PROTOBUF_FORMAT,
}
"""Formats of a value or a key, by name."""
TRANSFORMS = Table(kept=frozenset({"filter", "transforms"}))
TRANSFORM = Table(kept=frozenset({"type", "name", "expression"}))
COUNT_METRIC = Table(kept=frozenset({"type", "name"}))
NUMBER_METRIC = Table(
    kept=frozenset({"type", "name", "fieldName", "expression"}),
    unbuilt={"timeColumn": Unbuilt("leave it out: rows go by their own time", ("__time",))},
)
TEXT_METRIC = Table(
    kept=frozenset({"type", "name", "fieldName"}),
    unbuilt=NUMBER_METRIC.unbuilt,
    idle={"maxStringBytes": (1024,), "aggregateMultipleValues": (True,)},
)
SKETCH_METRIC = Table(
    kept=frozenset({"type", "name", "fieldName", "lgK"}),
    idle={
        "tgtHllType": ("HLL_4", "HLL_8"),
        "stringEncoding": ("utf16le", "utf8"),
        "round": (False, True),
        "shouldFinalize": (False, True),
    },
)
THETA_METRIC = Table(
    kept=frozenset({"type", "name", "fieldName", "size"}),
    unbuilt={
        "isInputThetaSketch": Unbuilt("send the values themselves, and leave it out", (False,))
    },
    idle={"shouldFinalize": (True, False), "errorBoundsStdDev": (None,)},
)
FILTERED_METRIC = Table(kept=frozenset({"type", "aggregator", "filter", "name"}))
METRICS: Mapping[str, Table] = {
    "count": COUNT_METRIC,
    **{
        f"{kind}{of}": NUMBER_METRIC
        for kind in ("long", "double", "float")
        for of in ("Sum", "Min", "Max", "First", "Last", "Any")
    },
    **{f"string{of}": TEXT_METRIC for of in ("First", "Last", "Any")},
    "HLLSketchBuild": SKETCH_METRIC,
    "thetaSketch": THETA_METRIC,
    "filtered": FILTERED_METRIC,
}
"""Aggregators, by type."""
OTHER_FORMATS = frozenset({"avro_ocf", "javascript", "orc", "parquet", "thrift"})
"""Druid's other input formats."""

INDEX = Table(
    kept=frozenset({"dimensionCompression", "zstdLevel", "dictionaryEncoding"}),
    idle={
        "bitmap": (
            {"type": "roaring"},
            {"type": "roaring", "compressRunOnSerialization": True},
        ),
        "stringDictionaryEncoding": ({"type": "utf8"},),
        "metricCompression": ("lz4",),
        "longEncoding": ("longs",),
        "complexMetricCompression": ("uncompressed", "none"),
        "jsonCompression": ("lz4",),
        "metadataCompression": ("none", "uncompressed"),
        "autoColumnFormatSpec": (),
        "segmentLoader": (),
    },
)
TUNING = Table(
    kept=frozenset(
        {
            "type",
            "maxRowsPerSegment",
            "targetSegmentBytes",
            "maxTotalRows",
            "intermediateHandoffPeriod",
            "maxParseExceptions",
            "maxSavedParseExceptions",
            "logParseExceptions",
            "badRecords",
            "unfitValues",
            "indexSpec",
            "resetOffsetAutomatically",
            "batchTarget",
            "batchRowsMin",
            "batchRowsMax",
            "linger",
        }
    ),
    unbuilt={
        "reportParseExceptions": Unbuilt("set maxParseExceptions to 0", (False,)),
        "skipSequenceNumberAvailabilityCheck": Unbuilt("leave it out", (False,)),
    },
    idle={
        "maxRowsInMemory": (150_000,),
        "maxBytesInMemory": (0,),
        "skipBytesInMemoryOverheadCheck": (False,),
        "intermediatePersistPeriod": ("PT10M", "PT600S"),
        "maxPendingPersists": (0,),
        "numPersistThreads": (1,),
        "maxColumnsToMerge": (-1,),
        "appendableIndexSpec": ({"type": "onheap", "preserveExistingMetrics": False},),
        "indexSpecForIntermediatePersists": (_INDEX_SPEC, {}),
        "segmentWriteOutMediumFactory": (),
        "handoffConditionTimeout": (900_000,),
        "releaseLocksOnHandoff": (False,),
        "workerThreads": (),
        "chatThreads": (),
        "chatRetries": (8,),
        "httpTimeout": ("PT10S",),
        "shutdownTimeout": ("PT80S",),
        "offsetFetchPeriod": ("PT30S",),
        "pollTimeout": (100,),
        "repartitionTransitionDuration": ("PT120S", "PT2M"),
        "basePersistDirectory": (),
        "buildV9Directly": (True, False),  # of Druid 0.14 and before
        "useMaxMemoryEstimates": (False,),
    },
)
