"""Records that are no rows, in the worker's log: where they lie, not what they hold."""

from collections.abc import Iterable

import structlog

from tasks.contract import RejectSample


def log_refused(task_id: str, samples: Iterable[RejectSample]) -> None:
    """Name each record; its content is in the task's report, which not everybody may read."""
    log = structlog.get_logger().bind(task=task_id)
    for one in samples:
        place = f"{one.topic}:{one.partition} {one.offset}"
        log.warning("record refused", record=place, reason=one.reason)
