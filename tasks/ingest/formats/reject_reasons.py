"""Why a record became no row."""

from enum import Enum


class RejectReason(Enum):
    """Why a record became no row; values are as they appear in files and reports."""

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

    @property
    def code(self) -> int:
        """The number that stands for it inside a job, from 1."""
        return list(RejectReason).index(self) + 1

    @property
    def thrown_away(self) -> bool:
        """Nothing is wrong with the record: it is no row because the spec wants none of it."""
        return self in _THROWN_AWAY


_THROWN_AWAY = frozenset(
    {
        RejectReason.NULL_VALUE,  # a tombstone is no broken record
        RejectReason.FILTERED,
        RejectReason.TOO_EARLY,
        RejectReason.TOO_LATE,
    }
)
