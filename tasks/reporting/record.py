"""Records: what leaves a process for the report store, as one JSON object each.

    envelope  v, type, recordId, subject, attempt, origin, supervisor, at, seq or offset, ...
    payload   what the type says; the store keeps it as it came

A record's id is a function of its subject, attempt, type and place.  So a record that is sent
again, by whom and when ever, has the id of before, and the store keeps the first one.  Topics may
hold records of several releases: a reader takes a field that it does not know as absent, and
refuses a version or a type that it does not know.
"""

import hashlib
import json
import math
from enum import StrEnum
from typing import Literal, NoReturn, Self

from pydantic import ConfigDict, Field, JsonValue, ValidationError, model_validator

from tasks.contract.wire import Instant, Truth, Whole, Wire

__all__ = [
    "VERSION",
    "BadRecord",
    "RecordCut",
    "RecordOrigin",
    "RecordType",
    "ReportRecord",
    "read_record",
    "record_id_of",
]

VERSION: Literal[1] = 1
_ID_BYTES = 16
_SUBJECT_MAX = 256
_STATUS_MAX = 32


class RecordType(StrEnum):
    """What a record holds."""

    TASK_RESULT = "task_result"
    """Final status, error, timings and counts of an attempt.  It is never dropped."""
    TASK_REPORT = "task_report"
    """The whole report of an attempt that has ended."""
    PROGRESS = "progress"
    """Counts of an attempt that runs, every 30 s."""
    LOG_CHUNK = "log_chunk"
    """A piece of an attempt's log, placed by its offset in bytes."""
    COMBINED = "combined"
    """Result, report and log in one; mode `inline`."""
    COMPLETION = "completion"
    """An attempt is over, and no more; it is counted, and not stored."""
    EVENT = "event"
    """One event of the control plane, placed by its number."""
    AUDIT = "audit"
    """One entry of the audit log, placed by its number."""


class RecordOrigin(StrEnum):
    """Whose work a record is about."""

    STREAM = "stream"
    COMPACTION = "compaction"
    EXECUTION = "execution"
    SUPERVISOR = "supervisor"


class RecordCut(Wire):
    """What was cut from a payload; sizes in bytes of UTF-8."""

    original_bytes: Whole
    kept_bytes: Whole
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Of the payload before it was cut."""
    spilled_to: str | None = None
    """Where the whole payload is in the log store.  None: it is nowhere."""


class BadRecord(ValueError):
    """A record that can never be stored; its text is the reason, for the dead letter."""


class ReportRecord(Wire):
    """One record, valid: its id is that of its content."""

    model_config = ConfigDict(extra="ignore")

    v: Literal[1] = VERSION
    type: RecordType
    record_id: str
    subject: str = Field(min_length=1, max_length=_SUBJECT_MAX)
    """The task, compaction, execution or container of events."""
    attempt: Whole = 0
    origin: RecordOrigin
    worker: str | None = Field(default=None, max_length=_SUBJECT_MAX)
    supervisor: str | None = Field(default=None, max_length=_SUBJECT_MAX)
    data_source: str | None = Field(default=None, max_length=_SUBJECT_MAX)
    status: str | None = Field(default=None, max_length=_STATUS_MAX)
    """How the attempt ended, in the words of its API, such as SUCCESS.  None: it has not ended, or
    the record does not say."""
    at: Instant
    """When the sender made the record, by its clock."""
    seq: Whole | None = Field(default=None, ge=0)
    """Place among records of this type; events and audit entries: their number."""
    offset: Whole | None = Field(default=None, ge=0)
    """Place of a log chunk, in bytes of its log."""
    final: Truth = False
    """No later record of this subject, attempt and type follows."""
    truncated: RecordCut | None = None
    debug: Truth = False
    """It is stored whatever the store's level says."""
    dropped: dict[RecordType, Whole] = Field(default_factory=dict)
    """Records of each type that the sender had to drop since the last record that arrived."""
    payload: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_place_and_its_own_id(self) -> Self:
        if (self.seq is None) == (self.offset is None):
            raise ValueError("needs either seq or offset")
        if (self.type is RecordType.LOG_CHUNK) != (self.offset is not None):
            raise ValueError("log chunks are placed by offset, and all others by seq")
        wanted = record_id_of(self.subject, self.attempt, self.type, self.place)
        if self.record_id != wanted:
            raise ValueError(f"recordId is not that of its content: {wanted}")
        return self

    @property
    def place(self) -> int:
        """The seq, or the offset of a log chunk."""
        return self.offset or 0 if self.seq is None else self.seq


def record_id_of(subject: str, attempt: int, kind: RecordType, place: int) -> str:
    """Return the id of a record: 32 hex digits."""
    named = json.dumps([subject, attempt, kind, place], separators=(",", ":"))
    return hashlib.sha256(named.encode()).hexdigest()[: 2 * _ID_BYTES]


def read_record(body: bytes) -> ReportRecord:
    """Read a record that anybody may have written.

    Raises:
        BadRecord: `body` is no JSON object, is of another version or type, has no id or not its
            own, or holds what no store takes: NUL, a lone surrogate, NaN, infinity.
    """
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRecord("no JSON object")
    if value.get("v") != VERSION:
        raise BadRecord(f"unknown version {value.get('v')!r:.40}: this release reads {VERSION}")
    _check(value)
    try:
        return ReportRecord.model_validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadRecord(f"{place}: {first['msg']}" if place else first["msg"]) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _check(value: object) -> None:
    """Refuse what JSON can hold and stores cannot, at any depth.

    Raises:
        BadRecord: the reason.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, float) and not math.isfinite(each):
            raise BadRecord("a number is too large for a double")
        elif isinstance(each, str):
            if "\0" in each:
                raise BadRecord("a text holds NUL, which databases refuse")
            if not each.isascii() and any("\ud800" <= one <= "\udfff" for one in each):
                raise BadRecord("a text holds half of a surrogate pair")
