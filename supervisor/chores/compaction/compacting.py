"""Compaction: small files of a table are rewritten as one file, by a rule or on demand.

    rule, or asked for ─► row: waits ─► given to a worker that has none ─► it writes one file
                             └ a file was taken out ─► FAILED   ▲              │ asks to publish
                                                        lost ───┘              ▼ commit

A row is the write intent of its folder.  Each attempt has a row of its own, because a lost worker
may go on writing.  The chore only reads rows and workers, so it may run twice at once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice

import structlog

from supervisor.chores.compaction.candidates import (
    Candidates,
    inputs_of,
    inserted,
    is_as_chosen,
    row_of,
)
from supervisor.chores.compaction.candidates import within as inside
from supervisor.chores.compaction.commit import FAILED, TAKEN_OUT, existing, put_off_if_damaged
from supervisor.chores.duty import Duty, Wiring
from supervisor.chores.each_table import each_table
from supervisor.chores.file_lists import listed
from supervisor.control.end_task import TaskEnder
from supervisor.control.tables import require_table
from supervisor.core.model.rows import AuditEntry
from supervisor.core.planning.observed import WorkerView
from supervisor.core.tables.compaction import (
    Attempt,
    Candidate,
    Compaction,
    CompactionRule,
    FileSizes,
    Target,
    batches,
    failed_too_often,
    file_sizes,
    why_lost,
)
from supervisor.core.values.field_types import format_duration
from supervisor.core.values.intervals import Interval
from supervisor.core.values.page_cursors import page
from supervisor.core.values.table_names import rows_table
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction, Workers

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
"""The maximum of live compactions of one table, whatever began them and when."""
BEGUN_AT_ONCE = 20
"""The number of compactions that one transaction begins: each has the shares of all its inputs."""


JudgeAct = Callable[[Transaction], None]


def _any_act(_: Transaction) -> None:
    """Accept whatever the verb does."""


@dataclass(frozen=True)
class Compacting:
    """The compaction verbs, and the chore; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    workers: Workers
    endings: TaskEnder
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

    def rule_of(
        self, data_source: str, target: Target, skip_latest: timedelta, author: str
    ) -> CompactionRule:
        """Return a rule as it is set now."""
        sizes = (target.rows, target.size_bytes, target.files_min)
        return CompactionRule(data_source, skip_latest, *sizes, author, self.clock.now())

    def set_rule(
        self,
        data_source: str,
        target: Target,
        skip_latest: timedelta,
        author: str,
        *,
        judge: JudgeAct = _any_act,
    ) -> CompactionRule:
        """Set the rule of a table: it is compacted by itself from now on.

        `judge` is called first, and raises if this is not what is wanted.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was stored.
        """
        rule = self.rule_of(data_source, target, skip_latest, author)
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            judge(tx)
            tx.compactions.put_rule(rule)
            detail = {
                "skipOffsetFromLatest": format_duration(rule.skip_offset_from_latest),
                "targetRows": str(rule.target_rows),
                "targetBytes": str(rule.target_bytes),
                "filesMin": str(rule.files_min),
            }
            tx.audit.write(AuditEntry(rule.set_at, author, "set-compaction", data_source, detail))
        return rule

    def drop_rule(
        self,
        data_source: str,
        author: str,
        judge: JudgeAct = _any_act,
    ) -> bool:
        """Drop the rule of a table; False: there was no rule.  Running compactions go on.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was changed.
        """
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            judge(tx)
            dropped = tx.compactions.drop_rule(data_source)
            if dropped:
                entry = AuditEntry(self.clock.now(), author, "drop-compaction", data_source)
                tx.audit.write(entry)
        return dropped

    def compact(
        self,
        data_source: str,
        target: Target,
        author: str,
        within: Interval | None = None,
        only: Collection[tuple[str, ...]] | None = None,
    ) -> list[Compaction]:
        """Begin to compact small files, in whole chunks inside `within`; return the new
        compactions, as many as `AT_ONCE` allows beside those that are live.

        `only`: the inputs of those that may begin; None: of all.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: compactions that were begun before go on.
        """
        groups = self.chosen(data_source, target, within)
        wanted = (g for g in groups if only is None or inputs_of(g) in only)
        begun = self._begin(data_source, wanted, author)
        self.assign()
        return begun

    def chosen(
        self, data_source: str, target: Target, within: Interval | None = None
    ) -> Iterator[tuple[Candidate, ...]]:
        """Yield the groups of files that `compact` would join, of which each becomes one file.

        Raises:
            DataSourceNotFound: there is no such table.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            keys = tx.segments.keys(data_source, used=True)
            live = tx.compactions.live_attempts(data_source)
        if (room := AT_ONCE - len(live)) > 0:
            used = inside(listed(self.store, keys), within)
            found = batches(used, target, Candidates(self.store), left_out=inputs_in(live))
            yield from islice(found, room)

    def cancel(self, wanted: str, author: str, judge: JudgeAct = _any_act) -> Compaction:
        """Cancel a live compaction; one that has ended stays as it is.

        Raises:
            CompactionNotFound: there is no compaction with this id.
            LeaseLost, Unavailable: nothing was changed.
        """
        with self.store.leading(self.term()) as tx:
            row = existing(tx, wanted)
            judge(tx)
            if row.live:
                detail, now = {"compaction": row.id}, self.clock.now()
                self.endings.end_compaction(tx, row, FAILED, f"given up by {author}", now)
                tx.audit.write(
                    AuditEntry(now, author, "cancel-compaction", row.data_source, detail)
                )
            compaction = existing(tx, wanted)
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

        A table that fails holds up no other one.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        try:
            self._end_lost()
        finally:  # each step is tried, whatever one of them meets
            try:
                begun = self._follow_rules()
            finally:
                self.assign()
        return begun

    def _follow_rules(self) -> int:
        with self.store.reading() as tx:
            rules = tx.compactions.rules()
        work = ((rule.data_source, partial(self._follow, rule)) for rule in rules)
        return each_table(DUTY.name, work)

    def _follow(self, rule: CompactionRule) -> int:
        target = Target(rule.target_rows, rule.target_bytes, rule.files_min)
        with self.store.reading() as tx:
            live = tx.compactions.live_attempts(rule.data_source)
            recent = tx.compactions.recent_attempts(rule.data_source, LOOKED_BACK)
            keys = tx.segments.keys(rule.data_source, used=True)
        if len(live) >= AT_ONCE:
            return 0
        candidates = batches(
            listed(self.store, keys),
            target,
            Candidates(self.store),
            skip_latest=rule.skip_offset_from_latest,
            left_out=failed_too_often(recent, self.clock.now()) | inputs_in(live),
        )
        return len(self._begin(rule.data_source, candidates, AUTHOR))

    def _begin(
        self, data_source: str, groups: Iterable[Sequence[Candidate]], author: str
    ) -> list[Compaction]:
        """Insert the compactions whose inputs are still free and used: they were chosen earlier.

        No more are chosen, some at a time, once `AT_ONCE` of the table are live.
        """
        begun: list[Compaction] = []
        now = self.clock.now()
        chosen = iter(groups)
        while some := [row_of(self.store, b, author, now) for b in islice(chosen, BEGUN_AT_ONCE)]:
            with self.store.leading(self.term()) as tx:
                live = tx.compactions.live_attempts(data_source, alone=True)
                room, busy = AT_ONCE - len(live), inputs_in(live)
                free = [row for row in some if busy.isdisjoint(row.inputs)]
                used = [r for r in free if is_as_chosen(tx, data_source, r)]
                added = [inserted(tx, row) for row in used[: max(0, room)]]
                for row in added if author != AUTHOR else ():
                    detail = {"compaction": row.id, "supervisor": row.supervisor_id}
                    detail["files"] = str(len(row.inputs))
                    tx.audit.write(AuditEntry(now, author, "begin-compaction", data_source, detail))
                begun += added
            if len(used) >= room:
                break
        if begun:
            log.info("compactions begin", data_source=data_source, number=len(begun), author=author)
        return begun

    def _end_lost(self) -> None:
        views = {view.id: view for view in self.workers.views()}
        now = self.clock.now()
        with self.store.reading() as tx:
            rows = [row for row in tx.compactions.live(assigned=True) if row.live]
        led_since = now - self.workers.led_for()
        lost = [(row, why) for row in rows if (why := why_lost(row, views, now, led_since))]
        # The job itself may have ended its worker, for example by a too small heap.  A job that is
        # retried forever would end the worker's other tasks again and again.
        work = ((row.data_source, partial(self._end, row, why, blamed=True)) for row, why in lost)
        each_table(DUTY.name, work)

    def assign(self) -> None:
        """Assign the oldest waiting compaction to each free worker; end those that lost an input.

        Raises:
            LeaseLost, Unavailable: the next run of the chore does it.
        """
        free = [view for view in self.workers.views() if view.takes_tasks]
        with self.store.reading() as tx:
            waits = tx.compactions.waiting()
        if not (free and waits):
            return
        taken_out: list[Compaction] = []
        with self.store.leading(self.term()) as tx:
            busy = {row.worker_id for row in tx.compactions.live(assigned=True)}
            rows = (tx.compactions.get(each) for each in tx.compactions.waiting())
            waiting = (row for row in rows if row is not None and row.live)
            for view in free:
                if view.id not in busy:
                    taken_out += self._assign_one(tx, waiting, view)
        for row in taken_out:
            self._end(row, TAKEN_OUT)

    def _assign_one(
        self, tx: Transaction, waiting: Iterator[Compaction], view: WorkerView
    ) -> list[Compaction]:
        """Assign the first intact waiting compaction; return those before it that lost an input."""
        taken_out = []
        for row in waiting:
            if tx.segments.all_used(row.data_source, row.inputs):
                now, token = self.clock.now(), self.new_token()
                tx.compactions.assign(row.id, view.id, view.incarnation, token, now)
                break
            taken_out.append(row)
        return taken_out

    def _end(self, row: Compaction, why: str, *, blamed: bool = False) -> int:
        now = self.clock.now()
        with put_off_if_damaged(row), self.store.leading(self.term()) as tx:
            self.endings.end_compaction(tx, row, FAILED, why, now, blamed=blamed)
        return 1


def inputs_in(attempts: Iterable[Attempt]) -> set[str]:
    """Return the ids of the segments that are inputs of these compactions."""
    return {each for attempt in attempts for each in attempt.inputs}


def compacting_of(w: Wiring) -> Compacting:
    """Return the compaction verbs of one overlord."""
    return Compacting(w.store, w.clock, w.term, w.registry, w.endings, w.new_token)


DUTY = Duty("compaction", compacting_of, lambda _: PERIOD)
