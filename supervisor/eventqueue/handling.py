"""The handler interface of event queues: at-least-once batches in, one answer per event out.

A handler sees a batch in order, at least once, and answers once per event.  A handler must be
idempotent: a batch whose answers were not committed is handed out again, perhaps while an older run
still goes on.  If the handler raises, the whole batch has failed.  It is repeated after a wait, and
later events wait behind it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.queue.events import QueuedEvent
from supervisor.ports.store import Store, Transaction


@dataclass(frozen=True)
class EventDone:
    """The event is handled; this answer is also right if its subject no longer exists."""


@dataclass(frozen=True)
class Retry:
    """The event failed this time: queue it again at the tail with one more attempt.

    After `max_attempts` the event is set aside.
    """

    reason: str


@dataclass(frozen=True)
class Later:
    """The event has to wait: queue it again at the tail with this body; no attempt is counted."""

    body: Mapping[str, str | int | float | bool | None]
    why: str


@dataclass(frozen=True)
class Fail:
    """The event can never succeed: set it aside at once, for people to look at."""

    reason: str


Handling = EventDone | Retry | Later | Fail


def nothing(_: Transaction) -> None:
    """Write nothing together with the new position."""


@dataclass(frozen=True)
class Handled:
    """Answers, one per event in the same order, and a write that commits with the new position."""

    answers: Sequence[Handling]
    write: Callable[[Transaction], None] = nothing
    """Called in the leading transaction that moves the position, so its writes happen once."""


@dataclass(frozen=True)
class Context:
    """The context of a handler: store, term and stop signal."""

    store: Store
    term: int
    """Each write of the handler goes through `store.leading(term)`."""
    now: datetime
    stopping: Callable[[], bool]
    """True once the process is about to end: a long handler then returns its answers or raises."""


Handler = Callable[[Sequence[QueuedEvent], Context], Handled]
