"""Reports of supervisors' changes of state, and of ends of compactions: the leader sends them.

    events above the stored number ─► records ─► acknowledged ─► the number moves on

Nothing of this is on the way of a pass: the events are committed with what they are about, and are
read later.  A leader that dies between an acknowledgement and its number leaves records that the
next one sends again: the store has them already.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from supervisor.chores.duty import Duty
from supervisor.core.history.archive import ArchivePosition
from supervisor.core.history.supervisor_records import supervisor_records
from supervisor.ports.reports.archive import SUPERVISOR_REPORTS, RecordSender
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway
from tasks.reporting.levels import ReportLevels

log = structlog.get_logger()

PERIOD = timedelta(seconds=5)
PAGE = 1_000
PAGES = 20
"""Pages of a run: the next run goes on."""


@dataclass
class ReportSupervisors:
    """The duty; one instance per process, for one thread."""

    store: Store
    term: Callable[[], int]
    sender: RecordSender | None
    """None: nothing is reported."""
    levels: ReportLevels
    reach: Callable[[str], None] = lambda _: None
    page: int = PAGE
    _at: tuple[int, int] = (0, 0)
    """A term, and the number up to which it has looked: only what was sent is worth a write."""
    _trouble: str = ""

    def run_once(self) -> int:
        """Send what is new; return how many records were sent.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        if self.sender is None:
            return 0
        term, sent = self.term(), 0
        with self.store.reading() as tx:
            position = tx.archive.positions().get(SUPERVISOR_REPORTS, ArchivePosition())
        seen = max(position.sent_to, self._at[1] if self._at[0] == term else 0)
        try:
            for _ in range(PAGES):
                with self.store.reading() as tx:
                    events = tx.archive.events(seen, self.page)
                    tables = tx.specs.tables()
                if not events:
                    break
                records = [*supervisor_records(events, tables, self.levels)]
                if records:
                    self.sender.send(records)
                    self.reach("supervisor-reports:sent")
                seen, sent = events[-1].number, sent + len(records)
                if records or seen - position.sent_to >= self.page:
                    position = replace(position, sent_to=seen)
                    with self.store.leading(term) as tx:
                        tx.archive.put(SUPERVISOR_REPORTS, position)
                self._at = term, seen
        except StoreAway as error:
            if str(error) != self._trouble:
                log.warning("reports of supervisors wait", why=str(error))
            self._trouble = str(error)
        else:
            self._trouble = ""
        return sent


DUTY = Duty(
    "report-supervisors",
    lambda w: ReportSupervisors(w.store, w.term, w.archive_sender, w.report_levels, w.reach),
    lambda _: PERIOD,
    at_once=True,
)
