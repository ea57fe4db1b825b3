"""The leader's side of executions on topics: it stores letters, and executors work them in.

    start  ─► the execution's row, CREATED, and its letter ─┐
    input  ─► judged by what the tables know, and a letter ─┴─► one commit ─► relay ─► history

The tables may be behind the topics.  So an input that is taken here may still be dropped there, and
the answer is what the tables know when they have moved on, or after some seconds.  What this leader
has sent counts before the tables show it: a pause can be resumed at once.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.inputs import Begin, ExecutionInput, GateInput
from supervisor.core.executions.reduce import reduce_execution
from supervisor.core.executions.reduced import Drop
from supervisor.core.executions.states import ExecutionState
from supervisor.executions.engine import PURGED_AT_ONCE, Worked, alive_of
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionPurge,
    ExecutionStart,
    Letter,
)
from supervisor.executions.unshown import UnshownInputs
from supervisor.ports.flows.executions import (
    ExecutionChanges,
    ExecutionReads,
    ExecutionRows,
    ExecutionStore,
    OutboxLetter,
)
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses

__all__ = ["LETTER_BYTES_MAX", "LetterBatch", "LetterEngine"]

LETTER_BYTES_MAX = 1024 * 1024
"""A larger letter, with what Kafka adds to it, might never get to the topics."""
_SHOWN_WITHIN_S = 5.0
_LOOK_S = 0.03


@dataclass
class LetterBatch:
    """New executions and inputs of one transaction, and their letters."""

    stored: ExecutionReads
    language: Expressions
    now: datetime
    executions: dict[str, Execution] = field(default_factory=dict)
    """Those that are new."""
    letters: list[OutboxLetter] = field(default_factory=list)
    dropped: list[tuple[str, ExecutionInput | GateInput, Drop]] = field(default_factory=list)
    unshown: UnshownInputs = field(default_factory=UnshownInputs)
    """What was sent before."""
    judged: dict[str, Execution] = field(default_factory=dict)
    """As they will be, as far as is known here; never stored."""

    def start(self, execution: Execution) -> bool:
        """Take a new execution over; False: one with its id is there, and is left as it is.

        Raises:
            ContentRefused: it is larger than a letter may be.
        """
        if self.execution(execution.id) is not None:
            return False
        self._write(execution.id, ExecutionStart(execution))
        self.executions[execution.id] = execution
        return True

    def send(self, execution: str, given: ExecutionInput) -> None:
        """Judge an input, and write its letter unless it would change nothing.

        Raises:
            ContentRefused: it is larger than a letter may be.
        """
        why = Drop.NOT_LIVE
        for number, current in enumerate(self._views(execution)):
            reduced = reduce_execution(current, given, self.now, self.language)
            if reduced.dropped is None:
                self._write(execution, ExecutionGiven(given))
                self.judged[execution] = reduced.entity
                return
            why = why if number else reduced.dropped
        self.dropped.append((execution, given, why))

    def _views(self, execution: str) -> Iterator[Execution]:
        """Yield by what an input is judged; it has to fit one of them."""
        if execution in self.judged:
            yield self.judged[execution]
        elif (current := self.execution(execution)) is not None:
            for each in self.unshown.views(current, self.now):
                is_new = each.state is ExecutionState.CREATED
                yield (
                    reduce_execution(each, Begin(), self.now, self.language).entity
                    if is_new
                    else each
                )

    def purge(self, execution: str) -> None:
        """Let the topics forget an execution that is deleted here."""
        self._write(execution, ExecutionPurge())

    def work(self) -> None:
        """Do nothing: executors do."""

    def execution(self, execution_id: str) -> Execution | None:
        """Return an execution as the tables know it."""
        return self.executions.get(execution_id) or self.stored.execution(execution_id)

    def changes(self) -> ExecutionChanges:
        """Return what is to be stored."""
        runs = {each.id: set(each.runs) for each in self.executions.values()}  # those of a rerun
        return ExecutionChanges(self.executions, set(self.executions), runs, letters=self.letters)

    def _write(self, entity: str, letter: Letter) -> None:
        body = LETTER_FORM.write(letter)
        if len(body) > LETTER_BYTES_MAX:
            raise ContentRefused(
                f"{entity}: its record has {len(body):,} bytes, of {LETTER_BYTES_MAX:,} at most"
            )
        self.letters.append(OutboxLetter(entity, body, self.now))


@dataclass
class LetterEngine:
    """Implements `flow_engine.FlowEngine`."""

    store: ExecutionStore
    term: Callable[[], int]
    """Raises LeaseLost while this overlord does not lead."""
    language: Expressions
    now: Callable[[], datetime]
    nudge: Callable[[], None] = lambda: None
    """Lets the relay look for letters now."""
    is_away: Callable[[], bool] = lambda: False
    """Whether letters do not get to the topics: then nobody waits for an answer."""
    within_s: float = _SHOWN_WITHIN_S
    unshown: UnshownInputs = field(default_factory=UnshownInputs)
    _never: threading.Event = field(default_factory=threading.Event)

    def work(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> Worked:
        """Store letters, and wait until the tables show what came of inputs, or for some seconds.

        Raises:
            LeaseLost: this overlord does not lead any more; nothing is stored.
            StoreAway, StoreRefuses, ContentRefused: nothing is stored.
            IllegalMove, UnreadableRecord, NewerRecord: nothing is stored.
        """
        with self.store.working(self.term()) as rows:
            batch = self.batch(rows)
            for execution in starts:
                batch.start(execution)
            for execution_id, given in inputs:
                batch.send(execution_id, given)
            rows.store(batch.changes())
            # Of a new execution the row is there already, and says that it is CREATED.
            known = {letter.entity for letter in batch.letters} - batch.executions.keys()
            before = dict(rows.versions(known))
            before |= {name: one.version - 1 for name, one in batch.judged.items()}
        self.unshown.keep(batch.judged, batch.now)
        self.committed()
        self._wait(before)
        return Worked(frozenset(batch.executions), (), batch.dropped)

    def batch(self, rows: ExecutionRows) -> LetterBatch:
        """Begin a batch in a transaction of one's own."""
        return LetterBatch(rows, self.language, self.now(), unshown=self.unshown)

    def committed(self) -> None:
        """Let the relay send what is stored."""
        self.nudge()

    def purge(self, before: datetime, of_each: int) -> int:
        """Delete some executions here, and let the topics forget them; see `StoredEngine.purge`.

        Those of a time without topics go as well: a letter of what is not known changes nothing.
        """
        with self.store.working(self.term()) as rows:
            gone, batch = rows.purge(before, of_each, PURGED_AT_ONCE), self.batch(rows)
            for each in gone:
                batch.purge(each)
            rows.store(batch.changes())
        if gone:
            self.committed()
        return len(gone)

    def alive(self, execution_ids: Iterable[str]) -> set[str]:
        """Return which of these executions have not ended.

        Raises:
            StoreAway, StoreRefuses: the database.
        """
        return alive_of(self.store, execution_ids)

    def _wait(self, before: Mapping[str, int]) -> None:
        until = time.monotonic() + self.within_s
        while before and not self.is_away() and time.monotonic() < until:
            try:
                with self.store.reading() as rows:
                    now = rows.versions(before)
            except (StoreAway, StoreRefuses):  # the letters are stored: that is the answer
                return
            if all(now.get(each, version + 1) > version for each, version in before.items()):
                return
            self._never.wait(_LOOK_S)
