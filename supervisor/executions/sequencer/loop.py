"""The owner of one partition: inputs in, one transaction out, and only then is it so.

    take_over ─► turn, turn, ...
    turn:  inputs of the history + requests + times ─► reduce ─► one transaction:
           changed records of the state, calls, letters, results, dead letters, the position

The position lies beside the state, in the same transaction: what is restored after a crash is as
far as its position says, whoever wrote it.  An aborted batch has changed nothing, as its entities
are values; its inputs are worked in again.  A doubt about what is written ends the ownership, and
the next `take_over` reads what is so.
"""

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.core.executions.records import NewerRecord
from supervisor.executions.batch import FlowOf
from supervisor.executions.sequencer.batch import PartitionBatch, PartitionPlan
from supervisor.executions.sequencer.counts import OwnerCounts
from supervisor.executions.sequencer.held import HeldPartition
from supervisor.executions.sequencer.letters import (
    POSITION_FORM,
    PartitionPosition,
)
from supervisor.executions.sequencer.places import partition_of
from supervisor.executions.sequencer.serving import RunnerWork
from supervisor.executions.sequencer.work import (
    LetterWork,
    PartitionWork,
    RequestWork,
    TickWork,
    WorkedInputs,
    dropped_letter,
)
from supervisor.ports.flows.execution_log import (
    POSITION_KEY,
    LogAborted,
    LogEntry,
    LogRecord,
    LogTooLarge,
    LogTopic,
    PartitionLog,
)
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["INPUTS_MAX", "PROVED_EVERY", "TICKS_MAX", "PartitionOwner"]

log = structlog.get_logger()

INPUTS_MAX = 500
"""Inputs of a transaction: those that came while the one before was written."""
_IDLE_S = 0.25
"""Between two looks at an owner that nothing wakes."""
_PAUSE_S = 0.02
"""At least before a time that has come already, and before what was aborted is tried again."""
TICKS_MAX = 200
"""Executions whose time has come, per transaction."""
_ABORTS_MAX = 20
"""Aborted transactions in a row, after which the partition is taken over anew."""
PROVED_EVERY = timedelta(seconds=30)
"""An owner without inputs writes its position so often.

A slow former owner may fence it and commit something; a write is how it hears of that."""


class PartitionOwner:
    """Works one partition; all but `request`, `wake` and looks is for one thread alone."""

    def __init__(
        self,
        partition: int,
        plan: PartitionPlan,
        log: PartitionLog,
        language: Expressions,
        flow_of: FlowOf,
        *,
        now: Callable[[], datetime],
        writer: str = "",
        counts: OwnerCounts | None = None,
        on_calls: Callable[[], None] = lambda: None,
    ) -> None:
        """Own nothing yet.

        `writer` names this process in the position; `on_calls` hears that calls wait for a runner.
        """
        self.partition = partition
        self.plan = plan
        self._log = log
        self._language = language
        self._flow_of = flow_of
        self._now = now
        self._writer = writer
        self._counts = OwnerCounts() if counts is None else counts
        self._on_calls = on_calls
        self.held = HeldPartition()
        self.waits_for: int | None = None
        """The version that the next record needs: nothing goes on before a release that has it."""
        self._read: deque[LogRecord] = deque()
        """Inputs that were read and are not committed."""
        self._requests: deque[RequestWork] = deque()
        self._lock = threading.Lock()
        self._gone: Exception | None = None
        self._aborts = 0
        self._proved_at = now()
        self._broken: set[str] = set()
        """Executions whose time cannot be worked in: a fault of the rules."""

    def take_over(self) -> None:
        """Fence who owned it before, and begin where the state says.

        Raises:
            LogFenced, LogAway, LogRefuses: nothing is owned.
            NewerRecord: a newer release has written the state.
            UnreadableRecord: the position cannot be read.
        """
        self.held = HeldPartition()
        self._read.clear()
        self._aborts = 0
        try:
            self.held = HeldPartition.of(self._log.take_over())
        except NewerRecord as error:
            self.waits_for = error.version
            raise
        self.waits_for = None
        self._proved_at = self._time()
        self.held.restore_calls(self._proved_at, self._language)
        for entity, why in self.held.restored.unreadable.items():
            log.error("set aside: cannot be read", entity=entity, why=why)
        self._log.read_from(self.held.position.next)
        self._counts.add("takeovers")
        if self.has_waiting:
            self._on_calls()

    def ask(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> "Future[WorkedInputs]":
        """Queue inputs that come by no topic; the answer is there once they are committed.

        Whoever gets an error sends them again: the reducer knows a repeat.
        """
        request = RequestWork(list(inputs), list(starts))
        self.request(request)
        return request.answer

    def request(self, request: RequestWork) -> None:
        """Queue a request; its answer is there once it is committed."""
        with self._lock:
            gone = self._gone
            if gone is None:
                self._requests.append(request)
        if gone is None:
            self.wake()
        else:
            request.fail(gone)

    def wake(self) -> None:
        """Let a turn that waits for inputs go on; for any thread."""
        self._log.wake()

    @property
    def waiting(self) -> int:
        """How many calls wait for a runner, looks that it makes among them; for any thread."""
        return max(0, len(self.held.calls.calls) - len(self.held.calls.claims))

    @property
    def has_waiting(self) -> bool:
        """Whether calls wait for a runner; a glance, for any thread."""
        return self.waiting > 0

    @property
    def lag(self) -> int | None:
        """How many records of the history are not worked in; None: not known yet."""
        behind = self._log.behind()
        return None if behind is None else behind + len(self._read)

    @property
    def read_to(self) -> int | None:
        """The offset of the history up to which all is worked in; None: nothing was there yet.

        At the end of the history that is the end itself, behind the last end of a transaction:
        else monitors would show a lag where there is none.
        """
        end, following = self._log.end_seen(), self.held.position.next
        return following if end is None or self._read else max(end, following or 0)

    def refuse(self, error: Exception, *, for_good: bool = False) -> None:
        """Answer whatever waits with an error; `for_good`: also whatever comes."""
        with self._lock:
            self._gone = error if for_good else None
            waiting, self._requests = list(self._requests), deque()
        for asked in waiting:
            asked.fail(error)

    def close(self) -> None:
        """Give the partition up: what is not committed is never seen."""
        self._log.close()

    def turn(self, within_s: float = _IDLE_S) -> bool:
        """Work one batch in; False: nothing was there, or nothing may go on.

        It waits up to `within_s` for the first input, and no longer: who asks wakes it.

        Raises:
            LogFenced, LogAway, LogRefuses: take the partition over anew, or leave it.
        """
        if self.waits_for is not None:
            self.refuse(NewerRecord(self.waits_for))
            return False
        room = INPUTS_MAX - len(self._read)
        if room > 0:
            self._read.extend(self._log.read(room, self._wait_s(within_s)))
        works = self._works()
        if not works and not self._is_unproven():
            return False
        requests = [work for work in works if isinstance(work, RequestWork)]
        try:
            self._commit_or_part(works)
        except BaseException as error:
            for work in requests:
                work.fail(error)
            raise
        return bool(works)

    def _is_unproven(self) -> bool:
        return self._time() - self._proved_at >= PROVED_EVERY

    def _wait_s(self, within_s: float) -> float:
        """Return how long to wait for inputs: not while somebody asks, nor beyond the next time."""
        if self._requests:
            return 0.0
        if self._read:
            return min(within_s, _PAUSE_S)
        due = self.held.next_due()
        if due is None:
            return within_s
        return min(within_s, max(_PAUSE_S, (due - self._time()).total_seconds()))

    def _works(self) -> list[PartitionWork]:
        """Return what is to be worked in now: requests, times, the history up to what is newer."""
        with self._lock:
            works: list[PartitionWork] = list(self._requests)
            self._requests.clear()
        now = self._time()
        works += [
            TickWork(execution)
            for execution in self.held.due(now, TICKS_MAX)
            if execution not in self._broken
        ]
        for record in self._read:
            try:
                works.append(LetterWork.of(record))
            except NewerRecord as error:
                self.waits_for = error.version
                log.warning(
                    "the partition waits for a newer release",
                    partition=self.partition,
                    offset=record.offset,
                    needs=error.version,
                )
                break
        return works

    def _commit_or_part(self, works: Sequence[PartitionWork]) -> bool:
        """Commit all in one transaction, or each in its own if one of them is a culprit.

        Return whether all are committed; if not, the rest is worked in again at the next turn.
        """
        try:
            batch = self._reduce(works)
        except (StoreAway, StoreRefuses):  # a flow cannot be read: no fault of the input
            raise
        except Exception as error:  # noqa: BLE001 -- a fault of the rules stops one input, not all
            return self._part(works, error)
        position = self._position(works, batch)
        entries = self._entries(works, batch, position)
        try:
            if len(entries) > 1 or self.held.position.is_behind(position) or self._is_unproven():
                self._log.write(entries)
                self._proved_at = batch.now
        except LogTooLarge as error:
            return self._part(works, error)
        except LogAborted as error:
            self._aborts += 1
            self._counts.add("aborts")
            log.warning("a transaction was aborted", partition=self.partition, error=str(error))
            if self._aborts > _ABORTS_MAX:
                raise
            self._put_back(works)
            return False
        self._aborts = 0
        self._keep(works, batch, position)
        return True

    def _part(self, works: Sequence[PartitionWork], error: Exception) -> bool:
        """Work each in alone; the one that fails alone is not worked in."""
        if len(works) > 1:
            for number, work in enumerate(works):
                if not self._commit_or_part([work]):
                    self._put_back(works[number + 1 :])
                    return False
            return True
        work = works[0]
        log.error("an input cannot be worked in", partition=self.partition, exc_info=error)
        if isinstance(work, TickWork):
            self._broken.add(work.execution)
        if work.spoiled:
            raise error
        work.spoil(error)
        return self._commit_or_part(works)

    def _put_back(self, works: Sequence[PartitionWork]) -> None:
        """Let requests wait for the next turn; letters and times are there by themselves."""
        with self._lock:
            requests = [work for work in works if isinstance(work, RequestWork)]
            self._requests.extendleft(reversed(requests))

    def _reduce(self, works: Sequence[PartitionWork]) -> PartitionBatch:
        batch = PartitionBatch(
            self.held, self._language, self._flow_of, self._time(), is_here=self.is_here
        )
        for work in works:
            work.put(batch, self.held)
        batch.work()
        for work in works:
            if isinstance(work, RunnerWork):
                work.claim(batch, self.held)
                batch.work()
        return batch

    def _position(self, works: Sequence[PartitionWork], batch: PartitionBatch) -> PartitionPosition:
        before = self.held.position
        drops = Counter(before.drops)
        drops.update(str(reason) for _, _, reason in batch.dropped)
        drops.update(work.reason for work in works if work.reason)
        offsets = [work.record.offset + 1 for work in works if isinstance(work, LetterWork)]
        return replace(
            before,
            next=max(offsets, default=before.next),
            last=batch.now,
            writer=self._writer,
            worked=before.worked + len(works),
            drops=dict(sorted(drops.items())),
        )

    def _entries(
        self,
        works: Sequence[PartitionWork],
        batch: PartitionBatch,
        position: PartitionPosition,
    ) -> Sequence[LogEntry]:
        """Return everything of a transaction, the position last."""
        entries = list(batch.entries(self.partition, self.plan))
        for entity, given, reason in batch.dropped:
            if reason.dead:
                entries.append(dropped_letter(entity, given, reason, self.partition))
        for work in works:
            entries += work.dead(self.partition)
        body = POSITION_FORM.write(position)
        key = POSITION_KEY.encode()
        return [*entries, LogEntry(LogTopic.STATE, self.partition, key, body)]

    def _keep(
        self,
        works: Sequence[PartitionWork],
        batch: PartitionBatch,
        position: PartitionPosition,
    ) -> None:
        """Let the new become what is so, and answer."""
        self.held.keep(batch, position)
        while self._read and self._read[0].offset < (position.next or 0):
            self._read.popleft()
        for work in works:
            if isinstance(work, RequestWork):
                work.succeed(batch, self.held)
        self._counts.add("inputs", len(works))
        self._counts.add("steps", len(batch.calls))
        if self.has_waiting:
            self._on_calls()

    def is_here(self, entity: str) -> bool:
        """Whether an execution or a gate is of this partition."""
        return partition_of(entity, self.plan.entities) == self.partition

    def _time(self) -> datetime:
        """Return the time of a batch: never before that of the one before."""
        now, last = self._now(), self.held.position.last
        return now if last is None else max(now, last)
