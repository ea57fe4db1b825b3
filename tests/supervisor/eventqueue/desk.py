"""What the stories of the queues are made of: a leader, a standing clock, handlers that note."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName, QueueRow
from supervisor.core.values.errors import MetadataUnavailable
from supervisor.eventqueue.handling import Context, EventDone, Handled, Handler, Handling
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from tests.conformance.stories import NOON, take_lease

QUEUE = QueueName("supervisor:clicks", "work")
LOOKS_MAX = 20_000
SECOND = timedelta(seconds=1)


def event(number: int, padding: int = 0) -> QueuedEvent:
    """Event number so and so, larger by `padding` bytes."""
    return QueuedEvent("count", str(number), {"padding": "x" * padding} if padding else {})


@dataclass
class Noting:
    """A handler that notes what it was given, and answers as it is told."""

    batches: list[list[str]] = field(default_factory=list)
    answer: Callable[[QueuedEvent], Handling] = lambda _: EventDone()
    fails: Callable[[Sequence[QueuedEvent]], str | None] = lambda _: None
    """Why it raises, None: it does not."""

    def __call__(self, events: Sequence[QueuedEvent], _: Context) -> Handled:
        self.batches.append([each.key for each in events])
        if (why := self.fails(events)) is not None:
            raise RuntimeError(why)
        return Handled([self.answer(each) for each in events])

    @property
    def keys(self) -> list[str]:
        """Everything it was given, in order."""
        return [key for batch in self.batches for key in batch]


class Desk:
    """A leader with a clock that stands; queues are run by hand."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock(NOON)
        self.held_term = take_lease(store)
        self.meters = Meters()

    @property
    def kit(self) -> ProcessorParts:
        return self.kit_on(self.store)

    def kit_on(self, store: Store) -> ProcessorParts:
        return ProcessorParts(store, self.clock, lambda: self.held_term, self.meters)

    def opens(
        self, handler: Handler, config: QueueConfig | None = None, queue: QueueName = QUEUE
    ) -> EventProcessor:
        """Open a queue with a handler."""
        return EventProcessor(queue, config or QueueConfig(), handler, self.kit)

    def writes(self) -> AbstractContextManager[Transaction]:
        return self.store.leading(self.held_term)

    def row(self, queue: QueueName = QUEUE) -> QueueRow:
        with self.store.reading() as tx:
            found = tx.events.find(queue)
        assert found is not None
        return found

    def runs(self, processor: EventProcessor, looks: int = LOOKS_MAX) -> int:
        """Look until nothing is due for ever; time passes when the queue waits.  Return looks."""
        for look in range(1, looks + 1):
            wait = processor.run_once()
            if wait is None:
                return look
            self.clock.advance(wait)
        return looks

    def runs_now(self, processor: EventProcessor) -> None:
        """Look until nothing is due at this moment; no time passes."""
        for _ in range(LOOKS_MAX):
            if processor.run_once() != timedelta(0):
                return
        raise AssertionError("the queue never rests")


@dataclass
class Faults:
    """Calls of the queue's repository that fail: method -> its calls that do, from 0."""

    planned: dict[str, set[int]]
    error: Callable[[], Exception]
    calls: dict[str, int] = field(default_factory=dict)

    def strike(self, method: str) -> None:
        number = self.calls.get(method, 0)
        self.calls[method] = number + 1
        if number in self.planned.get(method, ()):
            raise self.error()


class FaultyEvents:
    """The repository of a real backing, some of whose calls fail before they do anything."""

    def __init__(self, sound: object, faults: Faults) -> None:
        self._sound = sound
        self._faults = faults

    def __getattr__(self, name: str) -> object:
        self._faults.strike(name)
        return getattr(self._sound, name)


class FaultyStore:
    """A store whose queues fail now and then."""

    def __init__(self, sound: Store, faults: Faults) -> None:
        self._sound = sound
        self._faults = faults

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._faulty(self._sound.reading())

    def writing(self) -> AbstractContextManager[Transaction]:
        return self._faulty(self._sound.writing())

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self._faulty(self._sound.leading(term))

    def on_added(self, heard: Heard) -> None:  # noqa: ARG002 -- the port's name
        raise AssertionError("nobody asks here")

    @contextmanager
    def _faulty(self, opened: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        with opened as tx:
            sound = tx.events
            tx.events = FaultyEvents(sound, self._faults)  # type: ignore[assignment]  # delegates
            try:
                yield tx
            finally:
                tx.events = sound


def numbers(first: int, end: int) -> list[str]:
    """The keys of these events."""
    return [str(number) for number in range(first, end)]


def fill(processor: EventProcessor, count: int, padding: int = 0) -> None:
    """Add events, each in a transaction of its own."""
    for number in range(count):
        processor.add(event(number, padding))


def fill_at_once(desk: Desk, processor: EventProcessor, count: int, padding: int = 0) -> None:
    """Add events in one transaction."""
    with desk.writes() as tx:
        for number in range(count):
            processor.add(event(number, padding), tx=tx)


def down() -> MetadataUnavailable:
    """What a planned fault raises."""
    return MetadataUnavailable("planned")


def runs_on_through(desk: Desk, queue: EventProcessor) -> None:
    """As the dispatcher does: after an error, look again, until nothing waits."""
    for _ in range(1_000):
        try:
            if desk.runs(queue) and desk.row().outstanding_events == 0:
                return
        except MetadataUnavailable:
            continue
    raise AssertionError("it never ends")
