"""Compaction: small files of a table are rewritten as one file, by a rule or on demand.

    rule, or asked for ─► row: waits ─► given to a worker that has none ─► it writes one file
                             └ a file was taken out ─► FAILED   ▲              │ asks to publish
                                                        lost ───┘              ▼ compaction_commit

A row is the write intent of its folder.  Each attempt has a row of its own, because a lost worker
may go on writing.  The chore only reads rows and workers, so it may run twice at once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from supervisor.chores.compaction_commit import FAILED, TAKEN_OUT, existing, put_off_if_damaged
from supervisor.chores.duty import Duty, Wiring
from supervisor.control.declared_types import declared_of
from supervisor.control.desired_state import inputs_of
from supervisor.control.end_task import TaskEnder
from supervisor.control.tables import require_table
from supervisor.control.wakeups import Wakeups
from supervisor.core.model.rows import AuditEntry, Segment
from supervisor.core.planning.observed import WorkerView
from supervisor.core.tables.compaction import (
    Candidate,
    Compaction,
    CompactionRule,
    FileSizes,
    Target,
    batches,
    columns_of,
    failed_too_often,
    file_sizes,
    joined,
    shares_of,
    why_lost,
)
from supervisor.core.values.errors import SpecUnreadable
from supervisor.core.values.field_types import format_duration
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from supervisor.core.values.page_cursors import page
from supervisor.core.values.table_names import is_errors_table, rows_table
from supervisor.ports.store import Clock, Store, Transaction, Workers

log = structlog.get_logger()

PERIOD = timedelta(seconds=30)
"""The period of the chore: it looks for small files and assigns waiting compactions."""
COMPACTIONS = "compactions"
"""The name of the list that the cursors of compactions belong to."""
AUTHOR = "compaction rule"
"""The author of compactions that a rule began."""
LOOKED_BACK = 1_000
"""The number of newest ended compactions of a table that are searched for failures."""
AT_ONCE = 1_000
"""The maximum of live compactions of one table."""


@dataclass(frozen=True)
class Compacting:
    """The compaction verbs, and the chore; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    workers: Workers
    endings: TaskEnder
    changed: Wakeups
    new_token: Callable[[], str]

    # -- verbs of people -----------------------------------------------------------------------

    def rule(self, data_source: str) -> CompactionRule | None:
        """Return the rule of a table; None: the table is compacted only on demand.

        Raises:
            DataSourceNotFound: there is no such table.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            return tx.compactions.rule(data_source)

    def file_sizes(self, data_source: str) -> FileSizes:
        """Return the target file sizes of a table that apply without a request of its own.

        Raises:
            DataSourceNotFound: there is no such table.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            specs = (version.spec for version in tx.specs.all_newest())
            fed = rows_table(data_source)
            found = [s for s in specs if s is not None and s.data_source == fed]
        return file_sizes(spec.tuning_config for spec in found)

    def set_rule(
        self, data_source: str, target: Target, skip_latest: timedelta, author: str
    ) -> CompactionRule:
        """Set the rule of a table: it is compacted by itself from now on.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was stored.
        """
        now = self.clock.now()
        rule = CompactionRule(
            data_source,
            skip_latest,
            target.rows,
            target.size_bytes,
            target.files_min,
            author,
            now,
        )
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            tx.compactions.put_rule(rule)
            detail = {
                "skipOffsetFromLatest": format_duration(skip_latest),
                "targetRows": str(target.rows),
                "targetBytes": str(target.size_bytes),
                "filesMin": str(target.files_min),
            }
            tx.audit.write(AuditEntry(now, author, "set-compaction", data_source, detail))
        return rule

    def drop_rule(self, data_source: str, author: str) -> bool:
        """Drop the rule of a table; False: there was no rule.  Running compactions go on.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was changed.
        """
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            dropped = tx.compactions.drop_rule(data_source)
            if dropped:
                entry = AuditEntry(self.clock.now(), author, "drop-compaction", data_source)
                tx.audit.write(entry)
        return dropped

    def compact(
        self, data_source: str, target: Target, author: str, within: Interval | None = None
    ) -> list[Compaction]:
        """Begin to compact small files, in whole chunks inside `within`; return the new
        compactions.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was begun.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            used, busy = _within(tx, data_source, within), _busy(tx, data_source)
            found = list(batches(used, target, _view_of(tx), left_out=busy))
        begun = self._begin(data_source, found, author)
        self.assign()
        return begun

    def cancel(self, wanted: str, author: str) -> Compaction:
        """Cancel a live compaction; one that has ended stays as it is.

        Raises:
            CompactionNotFound: there is no compaction with this id.
            LeaseLost, Unavailable: nothing was changed.
        """
        with self.store.leading(self.term()) as tx:
            row = existing(tx, wanted)
            if row.live:
                detail, now = {"compaction": row.id}, self.clock.now()
                self.endings.end_compaction(tx, row, FAILED, f"given up by {author}", now)
                tx.audit.write(
                    AuditEntry(now, author, "cancel-compaction", row.data_source, detail)
                )
            compaction = existing(tx, wanted)
        self.changed.notify()
        self.assign()
        return compaction

    def page(
        self, data_source: str | None, limit: int, cursor: str | None = None
    ) -> tuple[list[Compaction], str | None]:
        """Return compactions of one table or of all, newest first, and the cursor behind them.

        Raises:
            DataSourceNotFound: there is no such table.
            BadCursor: the cursor does not belong to this list.
        """

        def read(rows_max: int, before: int | None) -> list[tuple[int, Compaction]]:
            with self.store.reading() as tx:
                if data_source is not None:
                    require_table(tx, data_source)
                return tx.compactions.page(rows_max, before=before, data_source=data_source)

        return page(COMPACTIONS, limit, cursor, read)

    def live(self) -> list[Compaction]:
        """Return the compactions that wait or run, oldest first."""
        with self.store.reading() as tx:
            return tx.compactions.live()

    def get(self, wanted: str) -> Compaction:
        """Return one compaction.

        Raises:
            CompactionNotFound: there is no compaction with this id.
        """
        with self.store.reading() as tx:
            return existing(tx, wanted)

    # -- the chore -----------------------------------------------------------------------------

    def run_once(self) -> int:
        """End lost compactions, begin those of rules, assign waiting ones; return how many began.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        self._end_lost()
        with self.store.reading() as tx:
            rules = tx.compactions.rules()
        begun = sum(len(self._follow(rule)) for rule in rules)
        self.assign()
        return begun

    def _follow(self, rule: CompactionRule) -> list[Compaction]:
        target = Target(rule.target_rows, rule.target_bytes, rule.files_min)
        with self.store.reading() as tx:
            recent = tx.compactions.recent(rule.data_source, LOOKED_BACK)
            candidates = batches(
                tx.segments.of_data_source(rule.data_source),
                target,
                _view_of(tx),
                skip_latest=rule.skip_offset_from_latest,
                left_out=failed_too_often(recent, self.clock.now()) | _busy(tx, rule.data_source),
            )
            chosen = list(candidates)
        return self._begin(rule.data_source, chosen, AUTHOR) if chosen else []

    def _begin(
        self, data_source: str, groups: Sequence[Sequence[Candidate]], author: str
    ) -> list[Compaction]:
        """Insert the compactions whose inputs are still free and used: they were chosen earlier."""
        begun: list[Compaction] = []
        now = self.clock.now()
        with self.store.leading(self.term()) as tx:
            busy = _busy(tx, data_source)
            for batch in groups:
                row = _row_of(tx, batch, author, now)
                if len(begun) < AT_ONCE and busy.isdisjoint(row.inputs) and inputs_of(tx, row):
                    begun.append(_added(tx, row))
        if begun:
            log.info("compactions begin", data_source=data_source, number=len(begun), author=author)
        return begun

    def _end_lost(self) -> None:
        views = {view.id: view for view in self.workers.views()}
        now = self.clock.now()
        with self.store.reading() as tx:
            rows = [row for row in tx.compactions.live() if row.live]
        led_since = now - self.workers.led_for()
        lost = [(row, why) for row in rows if (why := why_lost(row, views, now, led_since))]
        for row, why in lost:
            # The job itself may have ended its worker, for example by a too small heap.  A job that
            # is retried forever would end the worker's other tasks again and again.
            self._end(row, why, blamed=True)

    def assign(self) -> None:
        """Assign the oldest waiting compaction to each free worker; end those that lost an input.

        Raises:
            LeaseLost, Unavailable: the next run of the chore does it.
        """
        free = [view for view in self.workers.views() if view.takes_tasks]
        with self.store.reading() as tx:
            waits = any(row.live and not row.worker_id for row in tx.compactions.live())
        if not (free and waits):
            return
        taken_out: list[Compaction] = []
        with self.store.leading(self.term()) as tx:
            rows = tx.compactions.live()
            busy = {row.worker_id for row in rows}
            waiting = iter([row for row in rows if row.live and not row.worker_id])
            for view in free:
                if view.id not in busy:
                    taken_out += self._assign_one(tx, waiting, view)
        for row in taken_out:
            self._end(row, TAKEN_OUT)
        self.changed.notify()

    def _assign_one(
        self, tx: Transaction, waiting: Iterator[Compaction], view: WorkerView
    ) -> list[Compaction]:
        """Assign the first intact waiting compaction; return those before it that lost an input."""
        taken_out = []
        for row in waiting:
            if inputs_of(tx, row) is not None:
                now, token = self.clock.now(), self.new_token()
                tx.compactions.assign(row.id, view.id, view.incarnation, token, now)
                break
            taken_out.append(row)
        return taken_out

    def _end(self, row: Compaction, why: str, *, blamed: bool = False) -> None:
        now = self.clock.now()
        with put_off_if_damaged(row), self.store.leading(self.term()) as tx:
            self.endings.end_compaction(tx, row, FAILED, why, now, blamed=blamed)


def _within(tx: Transaction, data_source: str, within: Interval | None) -> list[Segment]:
    used = tx.segments.of_data_source(data_source)
    files = ((segment, segment.file) for segment in used)
    return [s for s, f in files if not within or within.contains(f.interval_start, f.interval_end)]


def _view_of(tx: Transaction) -> Callable[[Segment], Candidate]:
    """Return a function from a file to its candidate: its shares, and whether it is rolled up."""
    rolled: dict[tuple[str, int], bool] = {}

    def view(segment: Segment) -> Candidate:
        written = [] if segment.compaction_id is None else [segment.compaction_id]
        shares = shares_of(segment, tx.compactions.rows_of(written))
        generation = tx.generations.get(shares[0].generation_id)
        key = (segment.supervisor_id, 0 if generation is None else generation.spec_version)
        if key not in rolled:
            rolls_up = _rolls_up(tx, *key)
            rolled[key] = rolls_up and not is_errors_table(segment.data_source)
        return Candidate(segment, shares, rolled[key])

    return view


def _rolls_up(tx: Transaction, supervisor_id: str, spec_version: int) -> bool:
    """Return whether a spec rolls up; False for a spec that this release cannot read.

    A rolled-up file that counts as plain is only joined with plain ones: no row changes.
    """
    try:
        version = tx.specs.version(supervisor_id, spec_version)
    except SpecUnreadable:
        return False
    spec = None if version is None else version.spec
    return spec is not None and spec.data_schema.granularity_spec.rollup


def _busy(tx: Transaction, data_source: str) -> set[str]:
    """Return the ids of the segments that are inputs of live compactions."""
    rows = tx.compactions.live()
    return {each for row in rows if row.data_source == data_source for each in row.inputs}


def _row_of(tx: Transaction, batch: Sequence[Candidate], author: str, now: datetime) -> Compaction:
    first, segments = batch[0].segment, [each.segment for each in batch]
    inputs = tuple(segment.id for segment in segments)
    return Compaction(
        id=compaction_id(first.data_source, inputs, 0),
        data_source=first.data_source,
        supervisor_id=first.supervisor_id,
        interval=Interval(first.file.interval_start, first.file.interval_end),
        inputs=inputs,
        columns=columns_of(segments, declared_of(tx, segments)),
        shares=joined(share for each in batch for share in each.shares),
        reason=author,
        created_at=now,
    )


def _added(tx: Transaction, row: Compaction) -> Compaction:
    """Insert a compaction under the first id that no earlier attempt at the same files has."""
    attempt = 0
    while not tx.compactions.add(row):
        attempt += 1
        row = replace(row, id=compaction_id(row.data_source, row.inputs, attempt))
    return row


def compacting_of(w: Wiring) -> Compacting:
    """Return the compaction verbs of one overlord."""
    return Compacting(w.store, w.clock, w.term, w.registry, w.endings, w.changed, w.new_token)


DUTY = Duty("compaction", compacting_of, lambda _: PERIOD)
