"""Records that are no rows, in the worker's log: where they lie, not what they hold."""

from collections.abc import Iterable

import structlog

from tasks.contract.ingest_spec import BadRecords, Tuning
from tasks.contract.messages import RejectSample
from tasks.ports import JournalEntry


def log_bad_records(task_id: str, entry: JournalEntry, tuning: Tuning) -> None:
    """Log what the spec wants logged of a batch: its bad records' number, samples of them."""
    bad = entry.counters.unparseable
    if tuning.bad_records is BadRecords.WARN and bad:
        log = structlog.get_logger().bind(task=task_id, batch=entry.number)
        log.warning("records that cannot be read", records=bad)
    if tuning.log_parse_exceptions:
        log_refused(task_id, entry.samples)


def log_refused(task_id: str, samples: Iterable[RejectSample]) -> None:
    """Name each record; its content is in the task's report, which not everybody may read."""
    log = structlog.get_logger().bind(task=task_id)
    for one in samples:
        place = f"{one.topic}:{one.partition} {one.offset}"
        detail = {"detail": one.detail} if one.detail else {}
        log.warning("record refused", record=place, reason=one.reason, **detail)
