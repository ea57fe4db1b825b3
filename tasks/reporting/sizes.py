"""How large a record may be, and what is left of one that is larger; all sizes in bytes of UTF-8.

    payload ─fits─► as it is
            ─else─► {"head": ..., "tail": ...} of its JSON, and a mark: sizes and hash of before
            ─spilled─► the same, and all of its JSON as a log of its own, which the mark names

    topic takes less ─► split: logs in smaller pieces, other payloads cut, but for the archive's

The envelope, whose texts are bounded, always fits.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.reporting.record import RecordCut, RecordType, ReportRecord, record_id_of

__all__ = [
    "ENVELOPE_BYTES",
    "INLINE_BYTES",
    "INLINE_TOPIC_BYTES",
    "LOG",
    "PAYLOAD_BYTES",
    "SMALL_TOPIC",
    "TOPIC_BYTES",
    "RecordLimits",
    "cut",
    "fitted",
    "larger_command",
    "spilled",
    "split",
]

PAYLOAD_BYTES = 1024 * 1024
"""Of a payload, in mode `chunked`."""
INLINE_BYTES = 10 * 1024 * 1024
"""Of a whole record, in mode `inline`."""
TOPIC_BYTES = 2 * 1024 * 1024
"""What a topic of reports is made to take, in mode `chunked`."""
INLINE_TOPIC_BYTES = INLINE_BYTES + 64 * 1024
"""The same of the topic of whole records, with a topic's own bytes around a record."""
ENVELOPE_BYTES = 6_068
"""Of all but the payload."""
SPILLED_BYTES = 64 * 1024
"""Of a piece of a payload that goes to the log store."""
_CHARACTER_BYTES = 4
"""The most that a character takes."""
LOG = "log"
"""In the payload of a `combined` record: the log of its task."""
_UNCUT = frozenset({RecordType.EVENT, RecordType.AUDIT})
_ESCAPED_BYTES = 6
"""The most that a byte of a text takes in JSON: a control character is written by its number."""
_MARK_BYTES = 128
"""More than the names around a head and a tail take."""


SMALL_TOPIC = "a topic takes smaller records than reports have: large ones are cut, or left out"
"""A warning; the command that mends it is `larger_command`."""


@dataclass(frozen=True)
class RecordLimits:
    """What holds for records of one topic."""

    record_bytes: int

    @property
    def payload_bytes(self) -> int:
        """Of the payload, once the envelope has its place."""
        return max(self.record_bytes - ENVELOPE_BYTES, 0)


def larger_command(topic: str, record_bytes: int) -> str:
    """Return what an administrator types so that a topic takes records of so many bytes."""
    return (
        f"kafka-configs --alter --entity-type topics --entity-name {topic} "
        f"--add-config max.message.bytes={record_bytes}"
    )


def cut(text: str, most: int) -> tuple[str, str]:
    """Return head and tail of a text, of `most` bytes together at most, whole characters each."""
    body = text.encode()
    if len(body) <= most:
        return text, ""
    head, tail = most - most // 2, most // 2
    first = body[:head].decode(errors="ignore")
    last = body[len(body) - tail :].decode(errors="ignore") if tail else ""
    return first, last


def fitted(record: ReportRecord, limits: RecordLimits) -> ReportRecord:
    """Return a record that fits: itself, or one with head and tail of its payload, and the mark."""
    text = _json_of(record)
    size = len(text.encode())
    if size <= limits.payload_bytes:
        return record
    # Written as a JSON text a character takes twice its bytes at most, for quotes and backslashes;
    # control characters were written as six bytes before, each of which is one character.
    head, tail = cut(text, max(limits.payload_bytes - _MARK_BYTES, 0) // 2)
    mark = RecordCut(
        original_bytes=size,
        kept_bytes=len(head.encode()) + len(tail.encode()),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    return record.model_copy(update={"payload": {"head": head, "tail": tail}, "truncated": mark})


def spilled(record: ReportRecord, limits: RecordLimits) -> Iterator[ReportRecord]:
    """Yield a record that fits; before one that is cut, its whole payload as chunks of a log.

    The subject of that log is `spilled_to` of the mark, its text the payload's JSON.
    """
    small = fitted(record, limits)
    if small.truncated is None:
        yield small
        return
    subject = f"payload-{record.record_id}"
    yield from _chunks(_uncounted(record), subject, _json_of(record), SPILLED_BYTES)
    mark = small.truncated.model_copy(update={"spilled_to": subject})
    yield small.model_copy(update={"truncated": mark})


def split(record: ReportRecord, limits: RecordLimits) -> Iterator[ReportRecord]:
    """Yield records that fit, in place of one that a topic does not take.

    piece of a log ─────► smaller pieces, which are all of it
    record with its log ─► the log in pieces, then the record without it, cut if it must be
    event, audit entry ──► nothing: cut, it would pass for a stored one
    other records ───────► cut, with the mark
    """
    if record.type in _UNCUT:
        return
    piece_bytes = max(limits.payload_bytes // _ESCAPED_BYTES, 1)
    text = record.payload.get(LOG)
    if record.type is RecordType.LOG_CHUNK:
        lines = str(record.payload.get("text", ""))
        start = record.offset or 0
        yield from _chunks(record, record.subject, lines, piece_bytes, start, ends=record.final)
    elif record.type is RecordType.COMBINED and isinstance(text, str):
        yield from _chunks(_uncounted(record), record.subject, text, piece_bytes)
        rest = {name: each for name, each in record.payload.items() if name != LOG}
        yield fitted(record.model_copy(update={"payload": rest}), limits)
    else:
        yield fitted(record, limits)


def _chunks(
    record: ReportRecord, subject: str, text: str, size: int, start: int = 0, *, ends: bool = True
) -> Iterator[ReportRecord]:
    """Yield a text as pieces of a log, which begin at byte `start` of it.

    `ends`: whether the log ends with the text.  The first one has the counts of what was dropped.
    """
    content, at = text.encode(), 0
    while at < len(content):
        part = content[at : at + size].decode(errors="ignore")  # whole characters
        part = part or content[at : at + _CHARACTER_BYTES].decode(errors="ignore")[:1]
        offset, at = start + at, at + len(part.encode())
        yield record.model_copy(
            update={
                "type": RecordType.LOG_CHUNK,
                "record_id": record_id_of(subject, record.attempt, RecordType.LOG_CHUNK, offset),
                "subject": subject,
                "status": None,
                "seq": None,
                "offset": offset,
                "final": ends and at == len(content),
                "dropped": record.dropped if offset == start else {},
                "payload": {"text": part},
            }
        )


def _uncounted(record: ReportRecord) -> ReportRecord:
    """Return a record without the counts of what was dropped, which travel once."""
    return record.model_copy(update={"dropped": {}})


def _json_of(record: ReportRecord) -> str:
    return json.dumps(record.payload, ensure_ascii=False, separators=(",", ":"))
