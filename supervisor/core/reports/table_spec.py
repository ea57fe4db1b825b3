"""A supervisor spec that makes the records of reports a table, in Druid's form."""

from collections.abc import Sequence

__all__ = ["spec_of_records"]

_TEXTS = (
    "recordId",
    "type",
    "subject",
    "origin",
    "worker",
    "supervisor",
    "dataSource",
    "status",
    "final",
)
_NUMBERS = ("attempt", "seq")


def spec_of_records(brokers: str, topic_pattern: str, data_source: str) -> dict[str, object]:
    """Return the spec; logs are left out, whose place is the store of logs."""
    columns: Sequence[dict[str, str]] = [
        *({"type": "string", "name": name} for name in _TEXTS),
        *({"type": "long", "name": name} for name in _NUMBERS),
        {"type": "json", "name": "payload"},
    ]
    no_log = {
        "type": "not",
        "field": {"type": "selector", "dimension": "type", "value": "log_chunk"},
    }
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": data_source,
                "timestampSpec": {"column": "at", "format": "iso"},
                "dimensionsSpec": {"dimensions": columns},
                "transformSpec": {"filter": no_log},
                "granularitySpec": {"segmentGranularity": "DAY", "rollup": False},
            },
            "ioConfig": {
                "topicPattern": topic_pattern,
                "consumerProperties": {"bootstrap.servers": brokers},
                "inputFormat": {"type": "json"},
                "useEarliestOffset": True,
                "taskDuration": "PT15M",
                "taskCount": 1,
                "replicas": 1,
            },
            "tuningConfig": {"type": "kafka"},
        },
    }
