"""What happened, page by page: read from the rows alone, so that every overlord can tell."""

from dataclasses import dataclass

from supervisor.core.cursors import page_of, read_cursor
from supervisor.ports import Store
from supervisor.views_chronicle import AuditPage, audit_view

AUDIT = "audit"


@dataclass(frozen=True)
class Chronicle:
    """Lists of what was done and what came of it; one instance per process."""

    store: Store

    def audit(
        self,
        limit: int,
        cursor: str | None = None,
        *,
        supervisor_id: str | None = None,
        action: str | None = None,
        actor: str | None = None,
    ) -> AuditPage:
        """Return audit entries that match, newest first.

        Raises:
            BadCursor: it is no cursor of this list.
        """
        before = read_cursor(AUDIT, cursor)
        with self.store.reading() as tx:
            found = tx.audit.page(
                limit + 1, before=before, supervisor_id=supervisor_id, action=action, actor=actor
            )
        entries, following = page_of(found, limit, AUDIT)
        return AuditPage(entries=[audit_view(entry) for entry in entries], next=following)
