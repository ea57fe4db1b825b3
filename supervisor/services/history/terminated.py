"""The list of terminated supervisors that are not forgotten yet, newest end first.

It is read from rows alone, so that every overlord can answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from supervisor.core.history.listing import has_text, matches_one
from supervisor.core.model.rows import TerminatedSupervisor
from supervisor.core.values.errors import BadCursor
from supervisor.core.values.page_cursors import KeyedPlace, read_keyed, write_keyed
from supervisor.ports.store import Store
from supervisor.views.supervisors.terminated import TerminatedPage, terminated_page

LIST = "terminated supervisors"
_EPOCH = datetime.fromtimestamp(0, UTC)
_MICROSECOND = timedelta(microseconds=1)
MayRead = Callable[[str | None], bool]
"""Whether the caller may read a table; None: the table is not known."""


@dataclass(frozen=True)
class TerminatedFilter:
    """Which terminated supervisors are wanted; each condition that is given has to hold.

    `*` in a text stands for any signs.
    """

    text: str | None = None
    """A part of the id or of the table, in any case."""
    data_source: str | None = None

    def fits(self, row: TerminatedSupervisor) -> bool:
        """Return whether a row is wanted."""
        if self.data_source is not None and not matches_one(self.data_source, [row.data_source]):
            return False
        return self.text is None or has_text(self.text, (row.supervisor_id, row.data_source))


def terminated_supervisors(
    store: Store, may_read: MayRead, wanted: TerminatedFilter, limit: int, cursor: str | None = None
) -> TerminatedPage:
    """Return a page of the terminated supervisors whose table the caller may read.

    The table is that of the newest spec, as on the page of a supervisor.

    Raises:
        BadCursor: the cursor is of another list.
    """
    place = _place(cursor)
    with store.reading() as tx:
        ended = tx.specs.terminated()
    fitting = [row for row in ended if may_read(row.data_source) and wanted.fits(row)]
    fitting.sort(key=_behind)
    left = [row for row in fitting if place is None or _behind(row) > place]
    shown = left[:limit]
    following = None
    if len(left) > len(shown):
        micros, last = _behind(shown[-1])
        following = write_keyed(LIST, KeyedPlace(micros, last))
    return terminated_page(shown, len(fitting), following)


def _behind(row: TerminatedSupervisor) -> tuple[int, str]:
    """Return the place of a row: the later it ended, the further before the others."""
    return -((row.at - _EPOCH) // _MICROSECOND), row.supervisor_id


def _place(cursor: str | None) -> tuple[int, str] | None:
    place = read_keyed(LIST, cursor)
    if place is None:
        return None
    if not isinstance(place.value, int):
        raise BadCursor(LIST)
    return place.value, place.row_id
