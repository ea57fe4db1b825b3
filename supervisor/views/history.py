"""Response models of the history: audit entries and lifecycle events."""

from collections.abc import Sequence

from pydantic import Field, JsonValue

from supervisor.core.history.lifecycle_events import SCHEMA, EventKind, NumberedEvent
from supervisor.core.model.rows import AuditEntry
from tasks.contract.wire import Instant, Wire


class AuditView(Wire):
    """One change, by a caller or by a leader."""

    at: Instant
    actor: str
    """The user's name from the request, `overlord`, or `task <id>`."""
    action: str
    subject: str
    detail: dict[str, str]
    reason: str | None = None
    """Why, in the words of the caller; null: no reason was given."""


class AuditPage(Wire):
    """Audit entries, newest first."""

    entries: list[AuditView]
    next: str | None
    """The `cursor` of the next page; null: there is none."""
    missing: str | None = None
    """Why older entries, which are in the archive, are not in the list now; null: they are."""


def audit_view(entry: AuditEntry) -> AuditView:
    """Return the response for one audit entry."""
    return AuditView(
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        detail=dict(entry.detail),
        reason=entry.reason,
    )


class EventView(Wire):
    """One thing that happened; `detail` has the members of its type."""

    id: int
    """The event's number: 1, 2, 3, ... in the order of commits."""
    schema_version: int = Field(default=SCHEMA, alias="schema")
    type: EventKind
    at: Instant
    supervisor_id: str
    group: int | None
    generation_id: str | None
    task_id: str | None
    detail: dict[str, JsonValue]


class EventsPage(Wire):
    """Events, newest first."""

    events: list[EventView]
    newest: int
    """The id of the newest event of all; a stream after this id continues the list."""
    next: str | None
    """The `cursor` of the next page; null: there is none, or it was trimmed."""
    complete_since: Instant | None = None
    """Since when events of every type are kept, here or in the archive; before it only those of
    the types that are kept longer.  null: since the first."""
    missing: str | None = None
    """Why older events, which are in the archive, are not in the list now; null: they are."""


def event_view(numbered: NumberedEvent) -> EventView:
    """Return the response for one lifecycle event."""
    event = numbered.happening
    return EventView(
        id=numbered.number,
        type=event.kind,
        at=event.at,
        supervisor_id=event.supervisor_id,
        group=event.group,
        generation_id=event.generation_id,
        task_id=event.task_id,
        detail=dict(event.detail),
    )


def event_views(events: Sequence[NumberedEvent]) -> list[EventView]:
    """Return the responses for lifecycle events."""
    return [event_view(each) for each in events]
