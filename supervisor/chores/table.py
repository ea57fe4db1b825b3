"""The duties of the leader and the handlers of its event queues: a row for each.

A new duty is a module with its `DUTY` and a row here.  A new kind of event is a module with the
`HANDLER` of its queue and a row here.
"""

from supervisor.chores import (
    expiry,
    exports,
    forget,
    lag_samples,
    queue_poll,
    replays,
    retention,
    retirement,
    segments,
    sweep,
    task_output,
    wake,
)
from supervisor.chores.compaction import compacting
from supervisor.chores.duty import Duty, QueueHandler, Wiring
from supervisor.chores.flows import executions, purge, triggers, watch
from supervisor.chores.reports import archive, forgotten, persisters, supervisors
from supervisor.chores.reports import executions as execution_reports

CHORES: tuple[Duty, ...] = (
    wake.DUTY,
    queue_poll.DUTY,
    exports.DUTY,
    sweep.DUTY,
    retention.DUTY,
    retirement.DUTY,
    compacting.DUTY,
    lag_samples.DUTY,
    persisters.DUTY,
    expiry.DUTY,
    archive.DUTY,
    supervisors.DUTY,
    execution_reports.DUTY,
    executions.DUTY,
    executions.KEYS_DUTY,
    purge.DUTY,
    triggers.DUTY,
    watch.DUTY,
)
HANDLERS: tuple[QueueHandler, ...] = (
    task_output.HANDLER,
    segments.UNUSED_HANDLER,
    segments.FILES_HANDLER,
    forget.HANDLER,
    forgotten.HANDLER,
    replays.HANDLER,
    triggers.HANDLER,
    *exports.HANDLERS,
)


def consume_queues(wiring: Wiring) -> None:
    """Register every handler; nothing is handled before the queues are started."""
    for row in HANDLERS:
        handler, config = row.build(wiring), row.config(wiring)
        if handler is None:
            continue
        if row.container is None:
            wiring.queues.for_every_container(row.queue, handler, config)
        else:
            wiring.queues.for_consumer(row.container, row.queue, handler, config)
