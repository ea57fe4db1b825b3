"""Meanings of a spec's fields, for hints in forms and editors.

Generated from the tables of docs/reference/spec.md: python -m scripts.reference
"""

from collections.abc import Mapping
from types import MappingProxyType

MEANINGS: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "document": {
            "type": (
                "",
                "kafka",
            ),
            "id": (
                "",
                "the supervisor's id; several supervisors may feed one table",
            ),
            "spec": (
                "",
                "the sections; or they stand beside it",
            ),
            "suspended": (
                "",
                "nothing is read while it is true",
            ),
            "context": (
                "",
                "kept; debug: true has all reports and logs of its tasks kept; spark.* is refused",
            ),
        },
        "dataSchema": {
            "dataSource": (
                "",
                "the table; a new one whose name differs in case only from another is refused",
            ),
            "timestampSpec": (
                "",
                "which field is the time",
            ),
            "dimensionsSpec": (
                "",
                "the columns",
            ),
            "metricsSpec": (
                "metricsspec",
                "counts, sums and sketches",
            ),
            "granularitySpec": (
                "",
                "how rows are divided into time chunks",
            ),
            "transformSpec": (
                "",
                "fields that are worked out from others, and which rows are wanted",
            ),
            "exports": (
                "",
                "delta, iceberg: the same files as a table of that format. Tidegate's own",
            ),
        },
        "timestampSpec": {
            "column": (
                "",
                "the field that holds the time",
            ),
            "format": (
                "times-in-iso-8601",
                (
                    "iso; posix (seconds), millis, micro or nano since 1970; ruby: seconds with a "
                    "fraction; auto: digits are millis, the rest is ISO; all in any case; or a "
                    "pattern. Without a zone it is UTC"
                ),
            ),
            "missingValue": (
                "",
                "the time of records without one; null: they are rejected",
            ),
        },
        "dimensionsSpec": {
            "dimensions": (
                "",
                (
                    'names, or {"type", "name"} with type string, long, float, double, json, '
                    "array<long>, array<double>, array<string>, or auto (see below)"
                ),
            ),
            "dimensionExclusions": (
                "",
                "fields that never become a column; __time and the timestamp's are added",
            ),
            "includeAllDimensions": (
                "fields-as-texts",
                (
                    "fields that are not listed become columns, too, of type string, nested ones "
                    "aside; so they do if dimensions is empty"
                ),
            ),
            "useSchemaDiscovery": (
                "",
                "the same, with the types of their values",
            ),
        },
        "granularitySpec": {
            "segmentGranularity": (
                "granularities",
                (
                    "SECOND, MINUTE, FIVE_MINUTE, TEN_MINUTE, FIFTEEN_MINUTE, THIRTY_MINUTE, HOUR,"
                    " SIX_HOUR, EIGHT_HOUR, DAY, WEEK (from Monday), MONTH, QUARTER, YEAR, ALL, in"
                    " UTC; or any period"
                ),
            ),
            "queryGranularity": (
                "granularities",
                (
                    "rows' times are cut down to it: SECOND, MINUTE, FIVE_MINUTE, TEN_MINUTE, "
                    "FIFTEEN_MINUTE, THIRTY_MINUTE, HOUR, SIX_HOUR, EIGHT_HOUR, DAY, WEEK, MONTH, "
                    "QUARTER, YEAR, in UTC; or any period; ALL with segmentGranularity ALL: each "
                    "row then has the time 0001-01-01T00:00Z"
                ),
            ),
            "rollup": (
                "metricsspec",
                (
                    "rows of the same __time and the same dimensions become one; with metricsSpec "
                    "it has to be said"
                ),
            ),
        },
        "transformSpec": {
            "transforms": (
                "",
                '{"type": "expression", "name", "expression"}, in the language of expressions',
            ),
            "filter": (
                "",
                "rows that it does not match are thrown away, as filtered in the rejects file",
            ),
        },
        "ioConfig": {
            "topic": (
                "",
                "the topic, unless there is a topicPattern; a supervisor's cannot change",
            ),
            "topicPattern": (
                "several-topics",
                "instead of topic: every topic whose whole name matches",
            ),
            "consumerProperties": (
                "consumerproperties",
                "the connection",
            ),
            "inputFormat": (
                "input-formats",
                "how records are written",
            ),
            "taskCount": (
                "",
                (
                    "task groups; partition p belongs to group p mod taskCount; never more than "
                    "partitions"
                ),
            ),
            "replicas": (
                "",
                "tasks per group that read the same range; the first to publish wins",
            ),
            "taskDuration": (
                "",
                "how long a range is read before it is handed off and published",
            ),
            "startDelay": (
                "",
                "before a new supervisor's first tasks",
            ),
            "period": (
                "",
                (
                    "kept for Druid's clients, without effect: TIDEGATE_SUPERVISOR_PERIOD holds "
                    "for all"
                ),
            ),
            "useEarliestOffset": (
                "",
                "where to begin without stored offsets: the earliest, or the last stable offset",
            ),
            "completionTimeout": (
                "",
                (
                    "a publishing task that makes no progress for so long is replaced; nothing is "
                    "discarded"
                ),
            ),
            "stopTaskCount": (
                "",
                "groups that may hand off or publish at once; null: all that are due",
            ),
            "lateMessageRejectionPeriod": (
                "",
                "rows older than the opening of their range, less this, are thrown away",
            ),
            "lateMessageRejectionStartDateTime": (
                "",
                "rows before it are thrown away; only one of the two",
            ),
            "earlyMessageRejectionPeriod": (
                "late-and-early-rows",
                "rows later than the opening of their range, taskDuration and this are thrown away",
            ),
            "boundedStreamConfig": (
                "fixed-ranges",
                "read these ranges once; null: all that comes",
            ),
            "idleConfig": (
                "rest",
                "end the tasks while nothing comes; null: they wait for it",
            ),
        },
        "kafkaFormat": {
            "valueFormat": (
                "",
                "the format of the value; null: it is not looked at",
            ),
            "keyFormat": (
                "",
                (
                    "the format of the key, whose first field is the column keyColumnName, of "
                    "several lines that of the first; null: no such column"
                ),
            ),
            "headerFormat": (
                "",
                (
                    '{"type": "string"}: each header is a column, its last value as text of '
                    "encoding (UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE, UTF-16LE), with what"
                    " is none replaced; null: none is"
                ),
            ),
            "headerColumnPrefix": (
                "",
                "what the names of headers' columns begin with",
            ),
            "keyColumnName": (
                "",
                "",
            ),
            "timestampColumnName": (
                "",
                "the record's own time, in milliseconds",
            ),
            "topicColumnName": (
                "",
                "",
            ),
        },
        "tuningConfig": {
            "type": (
                "",
                "",
            ),
            "maxRowsPerSegment": (
                "when-a-range-ends",
                (
                    "a range with so many rows of one time chunk is handed off; a published file "
                    "with more is split"
                ),
            ),
            "targetSegmentBytes": (
                "files-of-a-range",
                "about how large a published file is at most; from 1 MiB to 1 TiB. Tidegate's own",
            ),
            "maxTotalRows": (
                "when-a-range-ends",
                "a range with so many rows is handed off; null: 20,000,000",
            ),
            "intermediateHandoffPeriod": (
                "",
                (
                    "a range that was read for so long is handed off; unless given, taskDuration "
                    "alone counts"
                ),
            ),
            "maxParseExceptions": (
                "",
                (
                    "a range with more records that cannot be read, wholly or in part, fails: "
                    "nothing of it is published until the spec allows it"
                ),
            ),
            "maxSavedParseExceptions": (
                "",
                (
                    "samples of rejected records that a task shows, fewer where a worker has very "
                    "many long ones; all are counted and kept"
                ),
            ),
            "logParseExceptions": (
                "",
                (
                    "workers log where rejected records lie: the first and the last of each reason"
                    " in a batch"
                ),
            ),
            "badRecords": (
                "bad-records",
                "what becomes of a record that cannot be read. Tidegate's own",
            ),
            "unfitValues": (
                "unfit-values",
                "what becomes of a value that its column cannot hold. Tidegate's own",
            ),
            "indexSpec": (
                "indexspec",
                "how files are written",
            ),
            "resetOffsetAutomatically": (
                "",
                "true: where Kafka no longer holds what is next, go on at the nearest offset",
            ),
            "batchTarget": (
                "",
                (
                    "how long a live micro-batch should last; bounds how long a pause takes. "
                    "Tidegate's own"
                ),
            ),
            "batchRowsMin": (
                "",
                (
                    "a live batch starts when so many records wait, or when they have lingered. "
                    "Tidegate's own"
                ),
            ),
            "batchRowsMax": (
                "",
                "records of one batch at most. Tidegate's own",
            ),
            "linger": (
                "",
                "how long fewer records than batchRowsMin wait. Tidegate's own",
            ),
        },
        "indexSpec": {
            "dimensionCompression": (
                "",
                (
                    "uncompressed or none: files are not compressed; lz4 and zstd: they are zstd; "
                    "lzf too, with a warning"
                ),
            ),
            "zstdLevel": (
                "",
                "from 1, the fastest, to 19, the smallest. Tidegate's own",
            ),
            "dictionaryEncoding": (
                "",
                (
                    "whether values that repeat are written once per column and row group; a list:"
                    " the columns without. Tidegate's own"
                ),
            ),
        },
    }
)
"""Part of the schema -> field -> (heading that says more, or "" for its section's; meaning)."""
