"""Log lines on rejected records: their places in the topic, without their content."""

from collections.abc import Iterable

import structlog

from tasks.contract.ingest_spec import BadRecords, Tuning
from tasks.contract.messages import RejectSample
from tasks.ports import JournalEntry


def log_bad_records(task_id: str, entry: JournalEntry, tuning: Tuning) -> None:
    """Log the bad records of a batch as the spec wants it: their number, samples of them."""
    bad = entry.counters.unparseable
    if tuning.bad_records is BadRecords.WARN and bad:
        log = structlog.get_logger().bind(task=task_id, batch=entry.number)
        log.warning("records that cannot be read", records=bad)
    if tuning.log_parse_exceptions:
        log_refused(task_id, entry.samples)


def log_refused(task_id: str, samples: Iterable[RejectSample]) -> None:
    """Log the place of each record.

    The content of the records is in the task's report only, which not everybody may read.
    """
    log = structlog.get_logger().bind(task=task_id)
    for one in samples:
        place = f"{one.topic}:{one.partition} {one.offset}"
        detail = {"detail": one.detail} if one.detail else {}
        log.warning("record refused", record=place, reason=one.reason, **detail)
