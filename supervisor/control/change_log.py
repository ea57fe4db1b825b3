"""What was committed, told to the log and counted: each change of state is one line.

transaction ── committed ──► what happened in it ──► a line each, with the ids ──► counters

A change that is rolled back leaves no line; one that is made twice has happened once.
"""

from collections.abc import Callable, Sequence

import structlog

from supervisor.control.metrics import OverlordMeters
from supervisor.core.history.lifecycle_events import LifecycleEvent
from supervisor.core.history.log_fields import fields_of, is_grave

log = structlog.get_logger()


def log_and_count(meters: OverlordMeters) -> Callable[[Sequence[LifecycleEvent]], None]:
    """Return what a store is to call after each commit."""

    def on_committed(happened: Sequence[LifecycleEvent]) -> None:
        for one in happened:
            say = log.warning if is_grave(one) else log.info
            say(one.kind.value, **fields_of(one))
        meters.committed(happened)

    return on_committed
