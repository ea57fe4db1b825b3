"""One partition on its way into the tables: what is read of it and not yet stored.

A transaction of the owner ends with its position, so the records up to one belong together.  Where
the topic was compacted, a task run or a plan may come long before its execution's head: it waits
for it, and the position of the tables waits with it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import structlog

from supervisor.core.executions.records import StateRecord, UnreadableRecord
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.sequencer.letters import RESULT_FORM
from supervisor.ports.flows.execution_log import POSITION_KEY, LogTopic
from supervisor.ports.flows.projection import Place, ProjectedRecord, ProjectionStep

__all__ = ["ResultsOnTheWay", "StateOnTheWay"]

log = structlog.get_logger()

EndOf = Callable[[Place], int]
"""Returns the offset behind the last committed record."""


STEP_MAX = 2_000
"""Records of a step, about: an execution's are together."""


@dataclass
class StateOnTheWay:
    """A partition of STATE."""

    partition: int
    stored: int | None
    """How far the tables are, as their position says."""
    next: int = 0
    """The offset that is read next."""
    done: int = 0
    """Everything before is in the tables."""
    at_end: bool = False
    """Whether what is read is all there was."""
    was_at_end: bool = False
    _begun: dict[str, tuple[int, bytes | None]] = field(default_factory=dict)
    """Of a transaction whose position is not read yet, like `_whole`."""
    _whole: dict[str, tuple[int, bytes | None]] = field(default_factory=dict)
    """Key -> offset of its first record that is not stored, and its newest value."""
    _whole_to: int = 0

    @property
    def place(self) -> Place:
        """Its topic and number."""
        return LogTopic.STATE, self.partition

    def take(self, record: ProjectedRecord) -> None:
        """Take a record, or the end of the partition."""
        self.at_end = record.is_end
        self.next = record.offset if record.is_end else record.offset + 1
        if record.is_end:
            self.was_at_end = True
        elif record.key != POSITION_KEY:
            self._begun[record.key] = (record.offset, record.value)
            return
        for key, (offset, value) in self._begun.items():
            first, _ = self._whole.get(key, (offset, None))
            self._whole[key] = (first, value)
        self._begun.clear()
        self._whole_to = self.next

    def step(self, *, idle: bool = False) -> ProjectionStep | None:
        """Return what may be stored; None: nothing.  `idle`: also a position alone."""
        if self.stored is None and not self.was_at_end:
            return None  # the newest of everything, not its history
        ready = self._ready()
        waiting = (first for key, (first, _) in self._whole.items() if key not in ready)
        following = min(waiting, default=self._whole_to)
        if not ready:
            self.done = max(self.done, following)
            if not idle or following <= (self.stored or 0):
                return None
        records = [StateRecord(key, value) for key, value in ready.items()]
        return ProjectionStep(self.place, self.stored, following, records)

    def keep(self, step: ProjectionStep) -> None:
        """Note that a step is stored."""
        self.stored = step.next
        self.done = max(self.done, step.next)
        for record in step.records:
            self._whole.pop(record.key, None)

    def _ready(self) -> Mapping[str, bytes | None]:
        """Return the records that may be stored, those of as many entities as a step takes."""
        entities: dict[str, dict[str, bytes | None]] = {}
        for key, (_, value) in self._whole.items():
            kind, _, rest = key.partition("/")
            entities.setdefault(f"{kind}/{rest.partition('/')[0]}", {})[key] = value
        ready: dict[str, bytes | None] = {}
        for entity, parts in entities.items():
            # What is left at the end without a head will never get one.
            if entity in parts or self.at_end or not any(parts.values()):
                ready.update(parts)
            if len(ready) >= STEP_MAX:
                break
        return ready


@dataclass
class ResultsOnTheWay:
    """A partition of RESULTS: the events of executions, and what is for others.

    An event may come before its execution.  One whose execution has no row when STATE is stored
    up to behind the event belongs to an execution that is gone.
    """

    partition: int
    stored: int | None
    next: int = 0
    done: int = 0
    unreadable: int = 0
    """Results that were passed over."""
    _waiting: list[tuple[int, str, ExecutionEvent]] = field(default_factory=list)
    """Offset, execution, event."""
    _unknown: tuple[int, int] | None = None
    """Up to which offset events are those of gone executions, and how far STATE has to be."""

    @property
    def place(self) -> Place:
        """Its topic and number."""
        return LogTopic.RESULTS, self.partition

    def take(self, record: ProjectedRecord) -> None:
        """Take a record, or the end of the partition.

        Raises:
            NewerRecord: a newer release has written it.
        """
        if record.is_end:
            self.next = record.offset
            return
        try:
            result = None if record.value is None else RESULT_FORM.read(record.value)
        except UnreadableRecord as error:
            self.unreadable += 1
            log.warning("a result is passed over", offset=record.offset, why=str(error))
            result = None
        self.next = record.offset + 1
        if isinstance(result, ExecutionEvent):
            self._waiting.append((record.offset, record.key, result))

    def executions(self) -> frozenset[str]:
        """Return the executions whose events wait."""
        return frozenset(name for _, name, _ in self._waiting)

    def forget_gone(self, known: Collection[str], state: StateOnTheWay, end: EndOf) -> None:
        """Pass events over whose executions are gone; `known`: those that have a row."""
        if self._unknown is not None and state.done >= self._unknown[1]:
            before = self._unknown[0]
            self._waiting = [one for one in self._waiting if one[0] >= before or one[1] in known]
            self._unknown = None
        if self._unknown is None and self.executions() - frozenset(known):
            self._unknown = (self.next, end(state.place))

    def step(self, known: Collection[str], *, idle: bool = False) -> ProjectionStep | None:
        """Return what may be stored: events of known executions; None: nothing."""
        left = (offset for offset, name, _ in self._waiting if name not in known)
        following = min(left, default=self.next)
        events = [(name, event) for _, name, event in self._waiting if name in known]
        if not events:
            self.done = max(self.done, following)
            if not idle or following <= (self.stored or 0):
                return None
        return ProjectionStep(self.place, self.stored, following, events=events)

    def keep(self, step: ProjectionStep) -> None:
        """Note that a step is stored."""
        self.stored = step.next
        self.done = max(self.done, step.next)
        kept = {(name, event.number) for name, event in step.events}
        self._waiting = [one for one in self._waiting if (one[1], one[2].number) not in kept]
