"""Response models of the list of terminated supervisors."""

from collections.abc import Sequence

from supervisor.core.model.rows import TerminatedSupervisor
from tasks.contract.wire import Instant, Wire


class TerminatedRow(Wire):
    """How one supervisor ended; its id can be brought back, or forgotten and used anew."""

    id: str
    data_source: str | None
    """The table, which stays; null: this release cannot read the spec."""
    terminated_at: Instant
    terminated_by: str
    reason: str | None
    """Why, in the words of the author; null: no reason was given."""
    version: int
    """The newest version that has a spec: the number for a rollback, which brings it back."""


class TerminatedPage(Wire):
    """A page of terminated supervisors that are not forgotten, newest end first."""

    supervisors: list[TerminatedRow]
    matching: int
    """The number of terminated supervisors that fit the filter, on all pages."""
    next: str | None
    """The `cursor` of the next page; null: there is none."""


def terminated_page(
    rows: Sequence[TerminatedSupervisor], matching: int, following: str | None
) -> TerminatedPage:
    """Return the response for some rows; `following`: the cursor behind them."""
    return TerminatedPage(
        supervisors=[
            TerminatedRow(
                id=row.supervisor_id,
                data_source=row.data_source,
                terminated_at=row.at,
                terminated_by=row.author,
                reason=row.reason,
                version=row.version,
            )
            for row in rows
        ],
        matching=matching,
        next=following,
    )
