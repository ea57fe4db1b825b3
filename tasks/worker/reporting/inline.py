"""Mode `inline`: result, report and log of a task in one record, of type `combined`.

    task_report ─► combined ─┬─ with the log, if both fit into a record ─► the log is stored with it
                             └─ else without it ───────────────────────► the log goes in chunks

What is kept beside the log for a repeat has no log in it: a repeat takes the log from its file.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tasks.contract.ids import is_safe_name
from tasks.reporting.record import RecordType, ReportRecord, record_id_of
from tasks.reporting.sizes import INLINE_BYTES, LOG
from tasks.sending.log_tail import plain_text

__all__ = ["InlineLogs", "combined"]


def combined(records: Iterable[ReportRecord]) -> Iterator[ReportRecord]:
    """Yield the records of an end as one: the report, which has all that the result has."""
    for record in records:
        if record.type is RecordType.TASK_REPORT:
            kind = RecordType.COMBINED
            record_id = record_id_of(record.subject, record.attempt, kind, record.place)
            yield record.model_copy(update={"type": kind, "record_id": record_id})
        elif record.type is not RecordType.TASK_RESULT:
            yield record


class InlineLogs:
    """The logs below one folder, as far as they fit into a record."""

    def __init__(self, folder: Path, record_bytes: int = INLINE_BYTES) -> None:
        """Take logs of `folder` into records of at most `record_bytes`."""
        self._folder, self._record_bytes = folder, record_bytes

    def with_log(self, record: ReportRecord) -> ReportRecord | None:
        """Return a combined record with its log; None: it does not fit, or cannot be read."""
        if record.type is not RecordType.COMBINED or not is_safe_name(record.subject):
            return None
        path = self._folder / f"{record.subject}.log"
        with suppress(OSError):
            if path.stat().st_size <= self._record_bytes:
                payload = {**record.payload, LOG: plain_text(path.read_bytes())}
                whole = record.model_copy(update={"payload": payload})
                return whole if len(whole.to_json()) <= self._record_bytes else None
        return None
