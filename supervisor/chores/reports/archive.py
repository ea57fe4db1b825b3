"""The archive of events and audit: the leader sends them by number, and sees that they are stored.

    rows above sent_to ──► topic `completed-others` ──► acknowledged ──► sent_to moves on
    numbers above stored_to, read back from the report store ──────────► stored_to moves on

No transaction is open while the brokers or the report store are asked.  A leader that dies between
an acknowledgement and its position leaves records that the next one sends again: the store has
them already.  Only what is below `stored_to` leaves the metadata database.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Lock

import structlog

from supervisor.chores.duty import Duty
from supervisor.core.history.archive import (
    EVENTS_HELD,
    ArchivePosition,
    Missing,
    audit_record,
    event_record,
    is_due_again,
    stored_prefix,
    without_lost,
)
from supervisor.ports.clock import Clock
from supervisor.ports.reports.archive import RecordSender
from supervisor.ports.reports.reports import NumberedQuery, ReportStore
from supervisor.ports.store import Store, Transaction
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from tasks.reporting.record import RecordType, ReportRecord

log = structlog.get_logger()

PERIOD = timedelta(seconds=5)
PAGE = 1_000
PAGES = 50
"""Pages of a run, of each kind: the next run goes on."""
KINDS = (RecordType.EVENT, RecordType.AUDIT)


@dataclass
class _Settled:
    """Up to which number no audit entry can come any more that was not seen.

    PostgreSQL gives numbers before the commit: a lower one may become visible later.
    """

    up_to: int = 0
    waits: tuple[int, frozenset[str]] | None = None
    """The newest number of a look, and the transactions that were writing then."""

    def look(self, newest: int, writers: Collection[str]) -> int:
        """Return the number, after one more look; `newest` was read before `writers`."""
        now = frozenset(writers)
        if self.waits is not None and self.waits[1].isdisjoint(now):
            self.up_to, self.waits = max(self.up_to, self.waits[0]), None
        if not now:
            self.up_to, self.waits = max(self.up_to, newest), None
        elif self.waits is None:
            self.waits = newest, now
        return self.up_to


@dataclass(frozen=True)
class _Look:
    """What a run goes by."""

    installation: str
    trimmed: int
    up_to: Mapping[RecordType, int]
    """Up to these numbers no lower one can come any more."""
    positions: dict[RecordType, ArchivePosition]

    def position(self, kind: RecordType) -> ArchivePosition:
        return self.positions.get(kind, ArchivePosition())


@dataclass
class ArchiveHistory:
    """The duty; one instance per process, for one thread."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    sender: RecordSender | None
    """None, as the report store: there is no archive."""
    reports: ReportStore | None
    reach: Callable[[str], None] = lambda _: None
    counted: Callable[[str, int, int], None] = lambda _, __, ___: None
    """Called after a run with a kind, how many were sent, and how many are not stored."""
    page: int = PAGE
    _turn: Lock = field(default_factory=Lock)
    _settled: _Settled = field(default_factory=_Settled)
    _missing: dict[RecordType, Missing] = field(default_factory=dict)
    _behind: set[RecordType] = field(default_factory=set)
    _trouble: str = ""
    _without: int = 0
    """The term in which it was seen that there is no archive."""

    def run_once(self) -> int:
        """Send what is new, and look at what is stored; return how many records were sent.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        if not self._turn.acquire(blocking=False):
            return 0  # the run at the begin of a term goes on
        try:
            return self._run()
        finally:
            self._turn.release()

    def _run(self) -> int:
        if self.sender is None or self.reports is None:
            self._end()
            return 0
        term, sent, look = self.term(), Counter[RecordType](), self._look()
        trouble = ""
        try:
            for kind in KINDS:
                sent[kind] = self._send(term, kind, look, self.sender)
            for kind in KINDS:
                self._compare(term, kind, look, self.reports)
        except (StoreAway, StoreRefuses) as error:
            trouble = str(error)
            if trouble != self._trouble:
                log.warning("events and audit entries wait for their archive", why=trouble)
        self._trouble = trouble
        for kind in KINDS:
            waiting = max(0, look.up_to[kind] - look.position(kind).stored_to)
            self.counted(kind, sent[kind], waiting)
            self._warn(kind, waiting)
        return sent.total()

    def _warn(self, kind: RecordType, waiting: int) -> None:
        """Say once that the table grows, until the archive has caught up."""
        if waiting < EVENTS_HELD // 10:
            self._behind.discard(kind)
        elif kind not in self._behind:
            self._behind.add(kind)
            log.warning(
                "the archive is behind: the table grows, and at a bound rows go unsaved",
                kind=kind,
                waiting=waiting,
                events_held=EVENTS_HELD,
            )

    def _end(self) -> None:
        """Let rows go as ever, where an archive was before."""
        term = self.term()
        if term == self._without:
            return
        with self.store.reading() as tx:
            known = tx.archive.positions()
        if known:
            with self.store.leading(term) as tx:
                tx.archive.end()
            log.warning("there is no archive any more: old events and audit entries go unsaved")
        self._without = term

    def _look(self) -> _Look:
        with self.store.reading() as tx:
            positions = {**tx.archive.positions()}
            newest = tx.archive.newest_entry()
            settled = self._settled.look(newest, tx.archive.entry_writers())
            up_to = {RecordType.EVENT: tx.happenings.newest(), RecordType.AUDIT: settled}
            return _Look(tx.installation.name(), tx.happenings.trimmed(), up_to, positions)

    def _send(self, term: int, kind: RecordType, look: _Look, sender: RecordSender) -> int:
        """Send new rows of a kind, page by page; return how many."""
        position, sent = look.position(kind), 0
        if kind not in look.positions:  # from now on nothing goes unsaved
            self._put(term, kind, position)
            look.positions[kind] = position
        for _ in range(PAGES):
            if position.sent_to >= look.up_to[kind]:
                break
            with self.store.reading() as tx:  # behind the look: what is settled is visible
                records = _records(tx, kind, look.installation, (position.sent_to, self.page))
            records = [each for each in records if each.place <= look.up_to[kind]]
            if not records:
                break
            sender.send(records)
            self.reach("archive:sent")
            position = replace(position, sent_to=records[-1].place)
            self._put(term, kind, position)
            look.positions[kind] = position
            sent += len(records)
        return sent

    def _compare(self, term: int, kind: RecordType, look: _Look, reports: ReportStore) -> None:
        """Move `stored_to` on, as far as the report store has all that was sent."""
        query = NumberedQuery(kind, look.installation)
        for _ in range(PAGES):
            position = look.position(kind)
            if position.stored_to >= position.sent_to:
                return
            with self.store.reading() as tx:
                numbers = tx.archive.numbers(kind, position.stored_to, self.page)
            there = [each for each in numbers if each <= position.sent_to]
            missing, after = None, replace(position, stored_to=position.sent_to)
            if there:
                part = replace(query, above=position.stored_to, below=there[-1] + 1)
                last, missing = stored_prefix(there, reports.numbers(part, self.page))
                after = replace(position, stored_to=position.stored_to if last is None else last)
            if kind is RecordType.EVENT and look.trimmed > position.stored_to:
                after = self._with_hole(after)
            if missing is not None:
                after = self._waited(after, missing, reports, query)
            if after != position:
                self._put(term, kind, after)
                look.positions[kind] = after
            if missing is not None:
                return

    def _with_hole(self, position: ArchivePosition) -> ArchivePosition:
        """Return the position without what was trimmed before it was stored."""
        with self.store.reading() as tx:
            oldest = tx.happenings.after(tx.happenings.trimmed(), 1)
        after = without_lost(position, oldest[0]) if oldest else position
        if after != position:
            log.warning("the archive lacks events before this one", number=after.whole_from)
        return after

    def _waited(
        self, position: ArchivePosition, number: int, reports: ReportStore, query: NumberedQuery
    ) -> ArchivePosition:
        """Return the position, put back where the store has passed a number by."""
        now, known = self.clock.now(), self._missing.get(query.kind)
        if known is None or known.number != number:
            self._missing[query.kind] = Missing(number, now, position.sent_to)
            return position
        newest = reports.numbers(replace(query, newest_first=True), 1)
        if not is_due_again(known, max(newest, default=0), now):
            return position
        del self._missing[query.kind]
        log.warning(
            "the report store lacks a record: it is sent again", kind=query.kind, number=number
        )
        return replace(position, sent_to=position.stored_to)

    def _put(self, term: int, kind: RecordType, position: ArchivePosition) -> None:
        with self.store.leading(term) as tx:
            tx.archive.put(kind, position)


def _records(
    tx: Transaction, kind: RecordType, installation: str, page: tuple[int, int]
) -> Sequence[ReportRecord]:
    after, limit = page
    if kind is RecordType.EVENT:
        return [event_record(installation, each) for each in tx.archive.events(after, limit)]
    entries = tx.archive.entries(after, limit)
    return [audit_record(installation, number, entry) for number, entry in entries]


DUTY = Duty(
    "archive",
    lambda w: ArchiveHistory(
        w.store,
        w.clock,
        w.term,
        w.archive_sender,
        w.stored_reports,
        w.reach,
        w.meters.archived,
    ),
    lambda _: PERIOD,
    at_once=True,
)
