"""What happened, as it is shown."""

from supervisor.core.model import AuditEntry
from tasks.wire import Instant, Wire


class AuditView(Wire):
    """One change that somebody, or a leader, made."""

    at: Instant
    actor: str
    """A user's name as the request told it, `overlord`, or `task <id>`."""
    action: str
    subject: str
    detail: dict[str, str]


class AuditPage(Wire):
    """Audit entries, newest first."""

    entries: list[AuditView]
    next: str | None
    """The `cursor` of the page behind this one; null: there is none."""


def audit_view(entry: AuditEntry) -> AuditView:
    """Return an entry as it is shown."""
    return AuditView(
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        subject=entry.subject,
        detail=dict(entry.detail),
    )
