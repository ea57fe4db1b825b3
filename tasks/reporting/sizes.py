"""How large a record may be, and what is left of one that is larger; all sizes in bytes of UTF-8.

    payload ─fits─► as it is
            ─else─► {"head": ..., "tail": ...} of its JSON, and a mark: sizes and hash of before
            ─spilled─► the same, and all of its JSON as a log of its own, which the mark names

Nothing is refused for its size: the envelope, whose texts are bounded, always fits.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.reporting.record import RecordCut, RecordType, ReportRecord, record_id_of

__all__ = [
    "ENVELOPE_BYTES",
    "INLINE_BYTES",
    "PAYLOAD_BYTES",
    "RecordLimits",
    "cut",
    "fitted",
    "limits_of",
    "spilled",
]

PAYLOAD_BYTES = 1024 * 1024
"""Of a payload, in mode `chunked`."""
INLINE_BYTES = 10 * 1024 * 1024
"""Of a whole record, in mode `inline`."""
ENVELOPE_BYTES = 6_068
"""Of all but the payload."""
SPILLED_BYTES = 64 * 1024
"""Of a piece of a payload that goes to the log store."""
_MARK_BYTES = 128
"""More than the names around a head and a tail take."""


@dataclass(frozen=True)
class RecordLimits:
    """What holds for records of one topic."""

    record_bytes: int
    warnings: tuple[str, ...] = ()
    """What contradicts each other among the settings, for the log, with what to do."""

    @property
    def payload_bytes(self) -> int:
        """Of the payload, once the envelope has its place."""
        return max(self.record_bytes - ENVELOPE_BYTES, 0)


def limits_of(
    payload_bytes: int, record_bytes: int, *, topic: str, topic_bytes: int | None
) -> RecordLimits:
    """Return what holds among the settings of a sender and of a topic.

    Args:
        payload_bytes: the setting for payloads.
        record_bytes: the setting for whole records.
        topic: the name of the topic, for warnings.
        topic_bytes: the topic's `max.message.bytes`.  None: it is not known.
    """
    warnings = []
    wanted = payload_bytes + ENVELOPE_BYTES
    largest = max(wanted, record_bytes)
    if wanted > record_bytes:
        warnings.append(
            f"payloads of {payload_bytes} bytes with their envelope do not fit into records of "
            f"{record_bytes} bytes: records of {largest} bytes are sent"
        )
    if topic_bytes is not None and topic_bytes < largest:
        warnings.append(
            f"topic {topic} takes records of {topic_bytes} bytes, so larger ones are cut. To send "
            f"{largest} bytes: kafka-configs --alter --entity-type topics --entity-name {topic} "
            f"--add-config max.message.bytes={largest}"
        )
        largest = topic_bytes
    return RecordLimits(largest, tuple(warnings))


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
    subject, content, offset = f"payload-{record.record_id}", _json_of(record).encode(), 0
    while offset < len(content):
        end = min(offset + SPILLED_BYTES, len(content))
        part = content[offset:end].decode(errors="ignore")  # whole characters
        end = offset + len(part.encode())
        yield record.model_copy(
            update={
                "type": RecordType.LOG_CHUNK,
                "record_id": record_id_of(subject, record.attempt, RecordType.LOG_CHUNK, offset),
                "subject": subject,
                "status": None,
                "seq": None,
                "offset": offset,
                "final": end == len(content),
                "payload": {"text": part},
            }
        )
        offset = end
    mark = small.truncated.model_copy(update={"spilled_to": subject})
    yield small.model_copy(update={"truncated": mark})


def _json_of(record: ReportRecord) -> str:
    return json.dumps(record.payload, ensure_ascii=False, separators=(",", ":"))
