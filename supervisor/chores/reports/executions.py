"""Reports of executions and their steps: the leader reads what has ended, and sends it.

    list of executions, newest first ─► open ones ─► their new events ─► records ─► acknowledged
    up to this time of creation all have ended and were sent ─► stored, for the next leader

Nothing of this is on the way of a step: whatever engine runs flows, what it has stored is read
here later, and an outage of brokers or of the report store costs only time.  What a leader has sent
without noting it, the next one sends again: the store has it already.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import structlog

from supervisor.chores.duty import Duty, Wiring
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.history.archive import ArchivePosition
from supervisor.core.history.execution_records import (
    end_records,
    execution_result_id,
    step_records,
)
from supervisor.ports.flows.executions import (
    ExecutionPlace,
    ExecutionQuery,
    ExecutionReads,
    ExecutionStore,
)
from supervisor.ports.reports.archive import EXECUTION_REPORTS, RecordSender
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store import Store
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses
from tasks.reporting.levels import ReportLevels
from tasks.reporting.record import ReportRecord

log = structlog.get_logger()

PERIOD = timedelta(seconds=2)
PAGE = 200
PAGES = 10
"""Pages of the list that a run reads."""
LOOKS = 500
"""Executions that a run reads whole."""
EVENTS = 1_000
WAITING_MAX = 5_000
"""Executions that wait for their first look: beyond them the list is not read on."""
OVERLAP = timedelta(minutes=1)
"""An execution may become visible so much later than one that was created after it."""
BEHIND_MAX = 300
"""Looks at an execution whose newest events are not there yet: ten minutes.  A projector stores
events apart, and they come within seconds.  Those that a topic has no more never come."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass
class _Unsent:
    """An execution whose end was not sent yet."""

    created_at: datetime
    version: int = -1
    """Of the last look."""
    events: int = 0
    """The number of the last event whose records were sent."""
    behind: int = 0
    """Looks that found fewer events than it had."""


@dataclass
class _ListPart:
    """A part of the list that is still to be read, from the newest down to a time."""

    down_to: datetime
    before: ExecutionPlace | None = None


@dataclass
class _Term:
    """What a leader knows; lost with its term."""

    number: int = 0
    settled: datetime = _EPOCH
    """Of what was created before all has ended and was sent; stored."""
    newest: datetime = _EPOCH
    """Down to here, without the overlap, the next look at the list goes."""
    walks: list[_ListPart] = field(default_factory=list)
    open: dict[str, _Unsent] = field(default_factory=dict)
    done: dict[str, datetime] = field(default_factory=dict)
    """Those that were sent and that the next look meets again -> when they were created."""


@dataclass
class ReportExecutions:
    """The duty; one instance per process, for one thread."""

    store: Store
    term: Callable[[], int]
    executions: ExecutionStore | None
    sender: RecordSender | None
    """None, as the executions: nothing is reported."""
    reports: ReportStore | None
    """What is stored; what a leader before has sent is not sent again."""
    levels: ReportLevels
    reach: Callable[[str], None] = lambda _: None
    page: int = PAGE
    looks: int = LOOKS
    behind_max: int = BEHIND_MAX
    _term: _Term = field(default_factory=_Term)
    _trouble: str = ""

    def run_once(self) -> int:
        """Send what is new; return how many records were sent.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        if self.sender is None or self.executions is None:
            return 0
        term = self.term()
        if self._term.number != term:
            self._term = self._begin(term)
        sent = 0
        try:
            self._walk(self.executions)
            sent = self._send(self.executions, self.sender)
        except StoreMissing:
            return 0  # no flow was ever started
        except (StoreAway, StoreRefuses) as error:
            if str(error) != self._trouble:
                log.warning("reports of executions wait", why=str(error))
            self._trouble = str(error)
        else:
            self._trouble = ""
            self._settle()
        return sent

    def _begin(self, term: int) -> _Term:
        with self.store.reading() as tx:
            position = tx.archive.positions().get(EXECUTION_REPORTS, ArchivePosition())
        settled = _EPOCH + position.sent_to * _MICROSECOND
        return _Term(term, settled=settled, newest=settled)

    def _walk(self, executions: ExecutionStore) -> None:
        """Read on in the list: first what is new, then what an earlier run has left."""
        known = self._term
        if not any(each.before is None for each in known.walks):
            known.walks.append(_ListPart(max(known.newest - OVERLAP, known.settled)))
        for _ in range(PAGES):
            waiting = sum(each.version < 0 for each in known.open.values())
            if not known.walks or waiting > WAITING_MAX:
                break
            walk = known.walks[-1]
            with executions.reading() as rows:
                # A subflow's start is in the list as any other one.
                page = rows.page(ExecutionQuery(since=walk.down_to), self.page, walk.before)
            for each in page:
                self._notice(each)
            if page:
                known.newest = max(known.newest, page[0].created_at)
                walk.before = ExecutionPlace(page[-1].created_at, page[-1].id)
            if len(page) < self.page:
                known.walks.pop()
        edge = known.newest - OVERLAP
        known.done = {each: at for each, at in known.done.items() if at >= edge}

    def _notice(self, execution: Execution) -> None:
        known = self._term
        if execution.id in known.open or execution.id in known.done:
            return
        if execution.state.ended and self._is_stored(execution.id):
            known.done[execution.id] = execution.created_at
        else:
            known.open[execution.id] = _Unsent(execution.created_at)

    def _is_stored(self, execution_id: str) -> bool:
        """Return whether the store has the last of its records; False, if it does not answer."""
        if self.reports is None:
            return False
        try:
            return self.reports.get(execution_result_id(execution_id)) is not None
        except (StoreAway, StoreRefuses):
            return False

    def _send(self, executions: ExecutionStore, sender: RecordSender) -> int:
        known, sent = self._term, 0
        ids, versions = [*known.open], dict[str, int]()
        for first in range(0, len(ids), EVENTS):
            with executions.reading() as rows:
                versions |= rows.versions(ids[first : first + EVENTS])
        for gone in known.open.keys() - versions.keys():
            log.warning("an execution was deleted before its report was sent", execution=gone)
            del known.open[gone]
        changed = [each for each, at in versions.items() if known.open[each].version != at]
        changed.sort(key=lambda each: known.open[each].created_at)
        for execution_id in changed[: self.looks]:
            sent += self._send_one(executions, sender, execution_id)
        return sent

    def _send_one(self, executions: ExecutionStore, sender: RecordSender, execution_id: str) -> int:
        mine = self._term.open[execution_id]
        try:
            with executions.reading() as rows:
                execution = rows.execution(execution_id)
                if execution is None:
                    return 0  # the next run sees that it is gone
                new = _events(rows, execution, mine.events)
                ended = execution.state.ended
                every = new if mine.events == 0 or not ended else _events(rows, execution, 0)
        except (UnreadableRecord, NewerRecord) as error:
            log.warning("an execution is not reported", execution=execution_id, why=str(error))
            self._over(execution_id)
            return 0
        if self._is_behind(mine, execution, new):
            return 0
        records: list[ReportRecord] = [*step_records(execution, new, self.levels)]
        if records:
            sender.send(records)
        if ended and (ends := [*end_records(execution, every, self.levels)]):
            # The result goes last, alone: where the store has it, it has all before it.
            sender.send(ends[:-1])
            self.reach("execution-reports:sent")
            sender.send(ends[-1:])
            records += ends
        mine.version, mine.events = execution.version, execution.events
        if ended:
            self._over(execution_id)
        return len(records)

    def _is_behind(
        self, mine: _Unsent, execution: Execution, new: Sequence[ExecutionEvent]
    ) -> bool:
        """Whether events of an execution are still on their way."""
        newest = new[-1].number if new else mine.events
        if newest >= execution.events:
            return False
        mine.behind += 1
        if mine.behind <= self.behind_max:
            return True
        log.warning("an execution is reported without its last events", execution=execution.id)
        return False

    def _over(self, execution_id: str) -> None:
        self._term.done[execution_id] = self._term.open.pop(execution_id).created_at

    def _settle(self) -> None:
        """Note how far all is sent, once the list was read."""
        known = self._term
        if known.walks:
            return
        oldest = min((each.created_at for each in known.open.values()), default=known.newest)
        settled = min(oldest, known.newest - OVERLAP)
        if settled - known.settled < OVERLAP:
            return  # what a next leader sends again is stored already
        position = replace(ArchivePosition(), sent_to=(settled - _EPOCH) // _MICROSECOND)
        with self.store.leading(known.number) as tx:
            tx.archive.put(EXECUTION_REPORTS, position)
        known.settled = settled


def _events(rows: ExecutionReads, execution: Execution, after: int) -> Sequence[ExecutionEvent]:
    events: list[ExecutionEvent] = []
    while len(page := rows.events(execution.id, after, EVENTS)) > 0:
        events += page
        after = page[-1].number
        if len(page) < EVENTS:
            break
    return events


def _build(wiring: Wiring) -> ReportExecutions:
    return ReportExecutions(
        wiring.store,
        wiring.term,
        None if wiring.flow_watch is None else wiring.flow_watch.store,
        wiring.archive_sender,
        wiring.stored_reports,
        wiring.report_levels,
        wiring.reach,
    )


DUTY = Duty("report-executions", _build, lambda _: PERIOD, at_once=True)
