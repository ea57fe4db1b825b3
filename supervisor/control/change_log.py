"""The change log: one log line and one count per lifecycle event, after each commit.

transaction ── committed ──► its lifecycle events ──► one line each, with the ids ──► counters

A change that is rolled back leaves no line.  A change that is repeated without effect adds none.
"""

from collections.abc import Callable, Sequence

import structlog

from supervisor.control.metrics import OverlordMeters
from supervisor.core.history.lifecycle_events import LifecycleEvent
from supervisor.core.history.log_fields import fields_of, is_grave

log = structlog.get_logger()


def log_and_count(meters: OverlordMeters) -> Callable[[Sequence[LifecycleEvent]], None]:
    """Return the callback that a store calls with the lifecycle events of each commit."""

    def on_committed(happened: Sequence[LifecycleEvent]) -> None:
        for one in happened:
            say = log.warning if is_grave(one) else log.info
            say(one.kind.value, **fields_of(one))
        meters.committed(happened)

    return on_committed
