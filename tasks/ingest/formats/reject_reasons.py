"""Reject reasons: why a record became no row."""

from enum import Enum


class RejectReason(Enum):
    """The reason why a record became no row; the values appear in files and reports."""

    NULL_VALUE = "null-value"
    EMPTY = "empty"
    NOT_JSON = "not-json"
    NOT_AN_OBJECT = "not-an-object"
    NO_TIMESTAMP = "no-timestamp"
    BAD_TIMESTAMP = "bad-timestamp"
    NOT_A_LINE = "not-a-line"
    NO_MATCH = "no-match"
    FILTERED = "filtered"
    TOO_EARLY = "before-minimum-time"
    TOO_LATE = "after-maximum-time"
    NOT_AVRO = "not-avro"
    UNKNOWN_SCHEMA = "unknown-schema"
    UNREADABLE_SCHEMA = "unreadable-schema"
    UNFIT_VALUE = "unfit-value"
    NOT_PROTOBUF = "not-protobuf"
    TOO_LARGE = "too-large"

    @property
    def code(self) -> int:
        """The number of the reason inside a job, from 1."""
        return list(RejectReason).index(self) + 1

    @property
    def thrown_away(self) -> bool:
        """Whether the record is valid, but unwanted by the spec."""
        return self in _THROWN_AWAY


_THROWN_AWAY = frozenset(
    {
        RejectReason.NULL_VALUE,  # a tombstone is not a bad record
        RejectReason.FILTERED,
        RejectReason.TOO_EARLY,
        RejectReason.TOO_LATE,
    }
)
