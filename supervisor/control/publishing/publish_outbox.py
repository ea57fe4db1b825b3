"""The outbox of publishes, for triggers of flows: one queue of all of them, in their order.

    a flow that watches publishes is applied ─► an event, which also makes the queue
    a range is published ─► same transaction: an event, if there is such a queue

A trigger fires for the publishes behind the event of its definition.  So nobody has to compare
times, and an installation without such triggers pays one look at an index per publish.
"""

from datetime import datetime

import structlog

from supervisor.core.flows.stored_triggers import PublishSeen
from supervisor.core.model.rows import Publication
from supervisor.core.queue.events import CLUSTER, QueueConfig, QueuedEvent, QueueName
from supervisor.core.values.errors import QueueDead
from supervisor.ports.store import Transaction

__all__ = ["CONFIG", "PUBLISHES", "announce_publish", "announce_watch", "publish_of", "watch_of"]

log = structlog.get_logger()

PUBLISHES = QueueName(CLUSTER, "flow-publishes")
CONFIG = QueueConfig(max_items_at_once=100)
"""Queue configuration: one transaction of the database of executions takes a batch."""
_PUBLISH, _WATCH = "publish", "watch"


def announce_publish(tx: Transaction, publication: Publication) -> None:
    """Announce a publish in its own transaction, if somebody watches publishes."""
    if tx.events.find(PUBLISHES) is None:
        return
    body: dict[str, str | int | float | bool | None] = {
        "table": publication.data_source,
        "supervisor": publication.supervisor_id,
        "rows": publication.rows,
        "at": publication.published_at.isoformat(),
    }
    event = QueuedEvent(_PUBLISH, publication.generation_id, body)
    try:
        tx.events.add(PUBLISHES, event, CONFIG, publication.published_at, exempt=True)
    except QueueDead as error:  # a trigger must not keep rows from being published
        log.warning("triggers do not see a publish", table=publication.data_source, why=str(error))


def announce_watch(tx: Transaction, flow: str, trigger: str, version: int, now: datetime) -> None:
    """Let a trigger watch publishes from here on; `version` of the flow defines it.

    Raises:
        QueueDead: the queue is damaged; do not commit.
    """
    body: dict[str, str | int | float | bool | None] = {"trigger": trigger, "version": version}
    tx.events.add(PUBLISHES, QueuedEvent(_WATCH, flow, body), CONFIG, now, exempt=True)


def publish_of(event: QueuedEvent) -> PublishSeen | None:
    """Return the publish of an event; None: it is of another kind."""
    match event.body:
        case {"table": str(table), "supervisor": str(supervisor), "rows": int(rows), "at": str(at)}:
            return PublishSeen(event.key, table, supervisor, rows, at)
    return None


def watch_of(event: QueuedEvent) -> tuple[str, str, int] | None:
    """Return flow, trigger and version of an event; None: it is of another kind."""
    match event.body:
        case {"trigger": str(trigger), "version": int(version)}:
            return event.key, trigger, version
    return None
