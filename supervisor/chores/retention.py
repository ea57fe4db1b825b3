"""Retention: how long a table keeps its rows, by rules that a chore applies.

A rule looks at the end of a segment's interval, so at the time of its rows and not of their
publishing.  A table without a rule keeps its rows forever.  An errors table goes by the rule of its
rows' table unless it has a rule of its own: raw records should not outlive the rows by default.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from supervisor.chores.duty import Duty, Wiring
from supervisor.chores.each_table import each_table
from supervisor.chores.segments import SegmentLife, SegmentSelection, segments_of
from supervisor.control.tables import require_table
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import AuditEntry, RetentionRule
from supervisor.core.values.errors import SupervisorError
from supervisor.core.values.field_types import format_duration
from supervisor.core.values.table_names import errors_table, rows_table
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction

log = structlog.get_logger()

AUTHOR = "retention"
"""The author in the audit log for segments that a rule took out."""
JudgeRule = Callable[[Transaction], None]


def _any_rule(_: Transaction) -> None:
    """Accept whatever the rule does."""


@dataclass(frozen=True)
class RetentionKeeper:
    """Keeps the retention rules and applies them; one instance per process."""

    store: Store
    clock: Clock
    term: Callable[[], int]
    life: SegmentLife

    def rule(self, data_source: str) -> RetentionRule | None:
        """Return the rule that applies to a table; None: the table keeps its rows forever.

        Raises:
            DataSourceNotFound: there is no such table.
        """
        with self.store.reading() as tx:
            require_table(tx, data_source)
            return _held_by(tx, data_source)

    def too_old(self, tx: Transaction, data_source: str, keep_for: timedelta) -> list[SegmentKey]:
        """Return the files that leave at once by a new rule of a table.

        Those of its errors table are among them, unless that has a rule of its own.
        """
        now = self.clock.now()
        old = SegmentSelection(ended_by=now - keep_for)
        tables = _tables_of(RetentionRule(data_source, keep_for, AUTHOR, now))
        governed = [t for t in tables if t == data_source or tx.retention.of(t) is None]
        return [key for table in governed for key in old.of(tx, table, used=True)]

    def set(
        self, data_source: str, keep_for: timedelta, author: str, judge: JudgeRule = _any_rule
    ) -> RetentionRule:
        """Set the rule of a table and apply it; if applying fails, the chore does it later.

        `judge` is called first, and raises if this is not what is wanted.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was stored.
        """
        now = self.clock.now()
        rule = RetentionRule(data_source, keep_for, author, now)
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            judge(tx)
            tx.retention.put(rule)
            detail = {"keepFor": format_duration(keep_for)}
            tx.audit.write(AuditEntry(now, author, "set-retention", data_source, detail))
        try:
            self.apply(rule, now)
        except SupervisorError as error:
            log.warning("a new retention rule waits for its chore", error=str(error))
        return rule

    def drop(self, data_source: str, author: str, judge: JudgeRule = _any_rule) -> bool:
        """Drop the rule of a table, which then keeps its rows forever; False: there was no rule.

        Raises:
            DataSourceNotFound: there is no such table.
            LeaseLost, Unavailable: nothing was changed.
        """
        with self.store.leading(self.term()) as tx:
            require_table(tx, data_source)
            judge(tx)
            dropped = tx.retention.drop(data_source)
            if dropped:
                entry = AuditEntry(self.clock.now(), author, "drop-retention", data_source)
                tx.audit.write(entry)
        return dropped

    def run_once(self) -> int:
        """Apply every rule; return how many segments were taken out of their tables.

        A table that fails, such as by a queue that refuses, holds up no other one.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        now = self.clock.now()
        with self.store.reading() as tx:
            rules = tx.retention.all()
        work = (
            (table, partial(self._apply_to, table, rule, now))
            for rule in rules
            for table in _tables_of(rule)
        )
        return each_table(DUTY.name, work)

    def apply(self, rule: RetentionRule, now: datetime) -> int:
        """Take out segments too old by a rule, while it applies; raises as `mark_unused`."""
        return sum(self._apply_to(table, rule, now) for table in _tables_of(rule))

    def _apply_to(self, table: str, rule: RetentionRule, now: datetime) -> int:
        old = SegmentSelection(ended_by=now - rule.keep_for)
        still = partial(_goes_by, table, rule)
        return self.life.mark_unused(table, old, AUTHOR, still=still)


def _tables_of(rule: RetentionRule) -> dict[str, None]:
    """Return the tables that a rule may apply to, in order."""
    return dict.fromkeys((rule.data_source, errors_table(rows_table(rule.data_source))))


def _held_by(tx: Transaction, data_source: str) -> RetentionRule | None:
    own = tx.retention.of(data_source)
    return tx.retention.of(rows_table(data_source)) if own is None else own


def _goes_by(data_source: str, rule: RetentionRule, tx: Transaction) -> bool:
    return _held_by(tx, data_source) == rule


def retention_of(wiring: Wiring) -> RetentionKeeper:
    """Return the retention verbs of one overlord."""
    return RetentionKeeper(wiring.store, wiring.clock, wiring.term, segments_of(wiring))


DUTY = Duty("retention", retention_of, lambda settings: settings.retention_period)
