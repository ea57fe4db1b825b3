"""The engine over a store: each batch of inputs is one transaction of the leader's term.

    requests, claims, reports, times ─► batch ─► one commit ─► replies

What was not committed has not happened: whoever sent it sends it again, and the reducer knows a
repeat.  So there is no inbox, and no crash between two steps of an input.

An execution whose rows cannot be read is set aside, and looked at again now and then: its times,
calls and reports wait for somebody who mends it, and those of others go on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import structlog

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.inputs import (
    AttemptLost,
    Claim,
    ExecutionInput,
    GateInput,
    Report,
    Tick,
)
from supervisor.core.executions.records import UnreadableExecution
from supervisor.core.executions.reduced import Cancel, ClaimReply, Drop, StepCall
from supervisor.core.flows.children import CalledFlow, called_flow
from supervisor.core.flows.reading import read_stored
from supervisor.executions.batch import FlowOf, InputBatch
from supervisor.ports.flows.executions import CallPlace, ExecutionRows, ExecutionStore
from supervisor.ports.flows.flows import FlowReads

__all__ = [
    "PURGED_AT_ONCE",
    "TICKED_AT_ONCE",
    "CallReport",
    "RunnerOrders",
    "StoredEngine",
    "Worked",
    "alive_of",
    "newest_flow",
    "place_of",
]

PURGED_AT_ONCE = 50
"""Executions that are deleted, per transaction: each may have a thousand task runs."""
TICKED_AT_ONCE = 200
"""Executions whose time has come, per transaction."""
_LOOKED_AT_AGAIN = timedelta(minutes=1)
"""After this time it is seen whether an execution that was set aside can be read."""
_ASIDE_CALLS_MAX = 1_000
"""Calls of such executions that are passed over, at most."""

log = structlog.get_logger()
T = TypeVar("T")


@dataclass(frozen=True)
class Worked:
    """What came of a batch, once it is stored."""

    started: frozenset[str]
    """Ids of the executions that are new."""
    replies: Sequence[ClaimReply | Cancel] = ()
    dropped: Sequence[tuple[str, ExecutionInput | GateInput, Drop]] = ()


@dataclass(frozen=True)
class CallReport:
    """What a runner reports of a call or of a look."""

    execution: str
    given: Report


@dataclass(frozen=True)
class RunnerOrders:
    """What a runner shall do now."""

    begin: Sequence[StepCall]
    """Calls that are granted to it, and looks."""
    stop: Sequence[CallPlace]
    """What it makes and shall not, or not any more."""
    unheard: Sequence[CallReport] = ()
    """Reports that nobody has taken: they are to be sent again."""


def newest_flow(flows: FlowReads, name: str) -> CalledFlow | None:
    """Return a flow's newest version as a step calls it; None: there is no such flow.

    Raises:
        InvalidFlow: this release does not take the version.
    """
    newest = flows.newest(name)
    if newest is None or newest.document is None:
        return None
    return called_flow(read_stored(newest.document), newest.version)


def place_of(call: StepCall) -> CallPlace:
    """Return which call it is."""
    return CallPlace(call.execution, call.run, call.attempt, call.check)


def alive_of(store: ExecutionStore, execution_ids: Iterable[str]) -> set[str]:
    """Return which of these executions have not ended."""
    with store.reading() as rows:
        every = {each: rows.execution(each) for each in execution_ids}
    return {each for each, one in every.items() if one is not None and not one.state.ended}


class StoredEngine:
    """Works inputs in; safe to use from many threads."""

    def __init__(
        self,
        store: ExecutionStore,
        term: Callable[[], int],
        language: Expressions,
        now: Callable[[], datetime],
        flow_of: FlowOf | None = None,
    ) -> None:
        """`term` raises LeaseLost while this overlord does not lead.

        `flow_of` None: the flows that are stored.
        """
        self._store = store
        self._term = term
        self._language = language
        self._flow_of = flow_of
        self._now = now
        self._aside: dict[str, datetime] = {}
        """Executions that cannot be read -> since when."""

    def work(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> Worked:
        """Work new executions and inputs in, in this order, and what follows from them.

        Raises:
            LeaseLost: this overlord does not lead any more; nothing is stored.
            StoreAway, StoreRefuses: the database; nothing is stored.
            IllegalMove, UnreadableRecord, NewerRecord: nothing is stored.
        """
        with self._store.working(self._term()) as rows:
            batch = self.batch(rows)
            for execution in starts:
                batch.start(execution)
            for execution_id, given in inputs:
                batch.send(execution_id, given)
            batch.work()
            rows.store(batch.changes())
        return Worked(frozenset(batch.new), batch.replies, batch.dropped)

    def serve(
        self,
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Sequence[CallReport] = (),
        free: int = 0,
    ) -> RunnerOrders:
        """Take a runner's reports, grant it up to `free` calls, and say what it shall stop.

        `makes`: the calls that it makes now, without those that it reports.  A call that was
        granted to it and that it does not know of is handed out again: the answer got lost.

        Raises:
            As `work`.
        """
        return self._go_on(lambda: self._serve(runner, makes, reports, free))

    def _serve(
        self,
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Sequence[CallReport],
        free: int,
    ) -> RunnerOrders:
        with self._store.working(self._term()) as rows:
            batch = self.batch(rows)
            for each in reports:
                # A report that is passed over is no loss: its call is handed out again.
                if each.execution not in self._aside:
                    batch.send(each.execution, each.given)
            batch.work()
            rows.store(batch.changes())
            looks, granting = [], self.batch(rows)
            for call in self._calls(rows, free) if free else ():
                if call.check:
                    looks.append(call)
                else:
                    granting.send(call.execution, Claim(call.run, call.attempt, runner))
            granting.work()
            rows.store(granting.changes())
            own = [call for call in rows.calls_of(runner) if call.execution not in self._aside]
            held = {each.place: each for each in rows.held(runner)}
        known = set(makes)
        begin = [call for call in (*own, *looks) if place_of(call) not in known]
        calls = [place for place in makes if place.look == 0]
        stop = [place for place in calls if place not in held or held[place].cancelled]
        return RunnerOrders(begin, stop)

    def _calls(self, rows: ExecutionRows, free: int) -> Sequence[StepCall]:
        calls = rows.calls(free)
        if not self._aside:
            return calls
        more = rows.calls(free + _ASIDE_CALLS_MAX)
        return [call for call in more if call.execution not in self._aside][:free]

    def lose(self, runner: Runner) -> int:
        """Let every call of a runner that is gone be lost; return how many there were.

        Raises:
            As `work`.
        """
        return self._go_on(lambda: self._lose(runner))

    def _lose(self, runner: Runner) -> int:
        with self._store.working(self._term()) as rows:
            held = [each for each in rows.held(runner) if each.place.execution not in self._aside]
            batch = self.batch(rows)
            for each in held:
                lost = AttemptLost(each.place.run, each.place.attempt, runner)
                batch.send(each.place.execution, lost)
            batch.work()
            rows.store(batch.changes())
        return len(held)

    def tick(self) -> int:
        """Work in the times that have come; return how many executions had one.

        Raises:
            As `work`.
        """
        return self._go_on(self._tick)

    def _tick(self) -> int:
        with self._store.working(self._term()) as rows:
            batch = self.batch(rows)
            limit = TICKED_AT_ONCE + len(self._aside)
            due = [each for each in rows.due(batch.now, limit) if each not in self._aside]
            due = due[:TICKED_AT_ONCE]
            for execution in due:
                batch.send(execution, Tick())
            batch.work()
            rows.store(batch.changes())
        return len(due)

    def _go_on(self, work: Callable[[], T]) -> T:
        """Do some work, without executions that turn out to be unreadable."""
        now = self._now()
        self._aside = {name: at for name, at in self._aside.items() if now - at < _LOOKED_AT_AGAIN}
        while True:
            try:
                return work()
            except UnreadableExecution as error:
                if error.execution in self._aside:  # another one has something for it
                    raise
                log.warning("an execution is set aside", why=str(error))
                self._aside = {**self._aside, error.execution: now}

    def purge(self, before: datetime, of_each: int) -> int:
        """Delete some executions that ended before a time, or that are too many of their flow.

        Returns how many; less than `PURGED_AT_ONCE`: there are no more now.

        Raises:
            LeaseLost, StoreAway, StoreRefuses: nothing is deleted.
        """
        with self._store.working(self._term()) as rows:
            return len(rows.purge(before, of_each, PURGED_AT_ONCE))

    def batch(self, rows: ExecutionRows) -> InputBatch:
        """Begin a batch in a transaction of one's own, such as that of a queue's position."""
        flow_of = self._flow_of or partial(newest_flow, rows.flows)
        return InputBatch(rows, self._language, flow_of, self._now())

    def alive(self, execution_ids: Iterable[str]) -> set[str]:
        """Return which of these executions have not ended.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        return alive_of(self._store, execution_ids)

    def committed(self) -> None:
        """Do nothing: what is stored is worked in."""

    def holders(self) -> set[Runner]:
        """Return the runners that hold calls.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        with self._store.reading() as rows:
            return {each.runner for each in rows.held()}
