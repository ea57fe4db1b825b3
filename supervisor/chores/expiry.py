"""The end of life of history: now and then, rows older than the retention become compact, or go.

    first            sessions that have ended, audit entries, events that were kept longer
    per supervisor   rows of deleted files ─► publications, end to end ─► ranges without a
                     publication ─► ended tasks that nothing names
    then             ended compactions without a file

Each transaction is short.  A run is bounded, so that a year of history goes over some hours, and
the next run continues.  What a table holds, and the proof of it, stays: see `core.history.expiry`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import structlog

from supervisor.chores.duty import Duty
from supervisor.chores.each_table import each_table
from supervisor.chores.segments import SEGMENT_FILES
from supervisor.core.history.archive import AGES_HELD, ArchivePosition
from supervisor.core.history.expiry import (
    NO_FILES,
    DroppedFiles,
    EventCut,
    EventLimits,
    Fold,
    HistoryAges,
    folds,
)
from supervisor.core.model.rows import Publication, Segment
from supervisor.core.queue.events import QueueName, container_of
from supervisor.core.tables.compaction import Compaction, merged
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.sessions import ENDED_KEPT, IDLE, LASTS
from supervisor.core.values.table_names import errors_table
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from tasks.reporting.record import RecordType

log = structlog.get_logger()

RUN_TRANSACTIONS = 500
"""Transactions of one run at most."""
SEGMENTS_AT_ONCE = 100
FOLDED_AT_ONCE = 50
PUBLICATIONS_AT_ONCE = 2_000
"""Publications that are read at once, to find those that may be folded."""
ROWS_AT_ONCE = 500
EVENTS_OF_EACH = 1_000
"""Events of a supervisor that are kept longer than others: a healthy one has a few in a month."""
EVENTS_OF_ALL = 1_000_000
"""Of all supervisors: some 300 MB."""


@dataclass
class _Budget:
    """The transactions that a run may still use to change rows."""

    left: int


@dataclass(frozen=True)
class EndOfHistory:
    """One chore; `run_once` is safe to crash at any line and to repeat."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    ages: HistoryAges
    run_transactions: int = RUN_TRANSACTIONS
    events_of_each: int = EVENTS_OF_EACH
    events_of_all: int = EVENTS_OF_ALL

    def run_once(self) -> int:
        """Do what is due, within bounds; return how many rows became compact or went.

        One supervisor's trouble holds up no other one.

        Raises:
            LeaseLost, Unavailable: what was done stays done; the next run goes on.
        """
        now, budget = self.clock.now(), _Budget(self.run_transactions)
        before = now - self.ages.ranges
        with self.store.reading() as tx:
            supervisors = tx.expiry.supervisors()
            archived = tx.archive.positions()
        used, begun = now - IDLE - ENDED_KEPT, now - LASTS - ENDED_KEPT
        done = self._repeat(budget, lambda tx: tx.access.delete_sessions(used, begun, ROWS_AT_ONCE))
        done += self._delete_audit(now, archived.get(RecordType.AUDIT), budget)
        done += self._trim_events(now, archived.get(RecordType.EVENT), budget)
        work = ((each, partial(self._expire, each, before, budget)) for each in supervisors)
        done += each_table(DUTY.name, work, of="supervisor")
        done += self._repeat(budget, lambda tx: tx.expiry.delete_compactions(before, ROWS_AT_ONCE))
        if done:
            log.info("history has ended", rows=done, before=before.isoformat())
        return done

    def _delete_audit(
        self, now: datetime, archived: ArchivePosition | None, budget: _Budget
    ) -> int:
        """Delete old entries; those that the archive lacks at a multiple of the age."""
        age, up_to = self.ages.audit, None if archived is None else archived.stored_to
        old, oldest = now - age, now - AGES_HELD * age
        done = self._repeat(
            budget, lambda tx: tx.expiry.delete_audit(old, ROWS_AT_ONCE, up_to=up_to)
        )
        if up_to is None:
            return done
        lost = self._repeat(budget, lambda tx: tx.expiry.delete_audit(oldest, ROWS_AT_ONCE))
        if lost:
            log.error("audit entries have ended that the archive never stored", entries=lost)
        return done + lost

    def _trim_events(self, now: datetime, archived: ArchivePosition | None, budget: _Budget) -> int:
        age = self.ages.events
        limits = EventLimits(now - age, self.events_of_each, self.events_of_all)
        beyond = EventLimits(
            now - AGES_HELD * age, AGES_HELD * self.events_of_each, AGES_HELD * self.events_of_all
        )
        with self.store.reading() as tx:
            cuts = tx.expiry.event_cuts(limits)
            if archived is not None and any(cut.up_to > archived.stored_to for cut in cuts):
                stored = (replace(cut, up_to=min(cut.up_to, archived.stored_to)) for cut in cuts)
                cuts = [*stored, *tx.expiry.event_cuts(beyond)]
        return sum(
            self._repeat(budget, partial(_delete_events, cut=cut)) for cut in cuts if cut.up_to
        )

    def _expire(self, supervisor_id: str, before: datetime, budget: _Budget) -> int:
        with self.store.reading() as tx:  # most have nothing due, and cost no turn of a writer
            due = tx.expiry.due(supervisor_id, before)
            up_to = tx.expiry.oldest_kept(supervisor_id, before) - 1
        done = 0
        if due:
            done += self._repeat(budget, lambda tx: _drop_some(tx, supervisor_id, before))
        done += self._fold(supervisor_id, before, budget)
        if due:
            done += self._repeat(
                budget, lambda tx: tx.generations.forget(supervisor_id, up_to, ROWS_AT_ONCE)
            )
            done += self._repeat(
                budget, lambda tx: tx.expiry.delete_tasks(supervisor_id, before, ROWS_AT_ONCE)
            )
        return done

    def _repeat(self, budget: _Budget, delete: Callable[[Transaction], int]) -> int:
        """Delete rows, some in each transaction, until none is left."""
        done = 0
        while budget.left > 0 and (deleted := self._write(delete)):
            done += deleted
            budget.left -= 1  # a look that found nothing costs none: all get their turn
        return done

    def _write(self, act: Callable[[Transaction], int]) -> int:
        with self.store.leading(self.term()) as tx:
            return act(tx)

    def _fold(self, supervisor_id: str, before: datetime, budget: _Budget) -> int:
        with self.store.reading() as tx:
            gaps = tx.offsets.gaps(supervisor_id)
        done = 0
        for old in self._old_publications(supervisor_id, before):
            for fold in folds(old, gaps, FOLDED_AT_ONCE):
                if budget.left <= 0:
                    return done
                budget.left -= 1
                try:
                    done += self._write(partial(_fold_now, fold=fold))
                except StateMoved as error:
                    log.info("a fold waits for the next run", why=str(error))
                    return done
        return done

    def _old_publications(
        self, supervisor_id: str, before: datetime
    ) -> Iterator[Sequence[Publication]]:
        after, limit = 0, PUBLICATIONS_AT_ONCE
        while True:
            with self.store.reading() as tx:
                old = tx.expiry.old_publications(supervisor_id, before, limit, after=after)
            yield old
            if len(old) < limit:
                return
            after = old[-1].ordinal


def _delete_events(tx: Transaction, cut: EventCut) -> int:
    return tx.expiry.delete_events(cut, ROWS_AT_ONCE)


def _drop_some(tx: Transaction, supervisor_id: str, before: datetime) -> int:
    """Drop some rows of deleted files; those whose file's deletion still waits stay."""
    queue = QueueName(container_of(supervisor_id), SEGMENT_FILES)
    waiting = tx.events.outstanding_keys(queue)
    limit = SEGMENTS_AT_ONCE + len(waiting)
    old = tx.expiry.old_segments(supervisor_id, before, limit)
    deleted = [segment for segment in old if segment.id not in waiting]
    written_by = [each.compaction_id for each in deleted if each.compaction_id is not None]
    dropped = _dropped(deleted, tx.compactions.rows_of(written_by))
    tx.expiry.drop_segments(deleted, dropped)
    return len(deleted)


def _dropped(
    deleted: Sequence[Segment], compactions: dict[str, Compaction]
) -> dict[tuple[str, str], DroppedFiles]:
    """Return (generation, table) -> what deleted files held; replaced files held nothing more."""
    dropped: dict[tuple[str, str], DroppedFiles] = {}
    for segment in deleted:
        if segment.replaced_by is not None:
            continue  # its rows went over to the file that replaced it
        for generation_id, files in _held(segment, compactions):
            at = generation_id, segment.data_source
            dropped[at] = dropped.get(at, NO_FILES) + files
    return dropped


def _held(
    segment: Segment, compactions: dict[str, Compaction]
) -> Iterator[tuple[str, DroppedFiles]]:
    if segment.compaction_id is None:
        spans = merged(segment.file.spans)
        yield segment.generation_id, DroppedFiles(1, segment.file.rows, spans)
        return
    for share in compactions[segment.compaction_id].shares:
        yield share.generation_id, DroppedFiles(1, share.rows, share.spans)


def _fold_now(tx: Transaction, fold: Fold) -> int:
    """Fold, unless a compaction is live that names the ranges; none begins before the commit."""
    for table in (fold.into.data_source, errors_table(fold.into.data_source)):
        if tx.compactions.live_attempts(table, alone=True):
            raise StateMoved(f"a compaction of {table} is live")
    tx.expiry.fold(fold)
    return len(fold.others)


DUTY = Duty(
    "end-of-history",
    lambda w: EndOfHistory(w.store, w.clock, w.term, w.history_ages),
    lambda settings: settings.retention_period,
)
