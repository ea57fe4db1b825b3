"""What a handler is given, and what it may answer.

A handler sees a batch in order, at least once, and answers once per event.  It is idempotent: a
batch whose answers were not committed comes again, maybe while an older run still goes on.
Raising means that the whole batch failed: it comes again after a wait, and nothing behind it does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from supervisor.core.queue.events import QueuedEvent
from supervisor.ports.store import Store, Transaction


@dataclass(frozen=True)
class Done:
    """Handled; what had gone already counts as well."""


@dataclass(frozen=True)
class Retry:
    """Failed this time: again at the tail, counted; after `max_attempts` it is set aside."""

    reason: str


@dataclass(frozen=True)
class Later:
    """What it waits for has not happened: again at the tail, not counted, with this body."""

    body: Mapping[str, str | int | float | bool | None]
    why: str


@dataclass(frozen=True)
class Fail:
    """Will never work: set aside at once, for people to look at."""

    reason: str


Handling = Done | Retry | Later | Fail


def nothing(_: Transaction) -> None:
    """Write nothing beside the new position."""


@dataclass(frozen=True)
class Handled:
    """Answers, one per event in their order, and what is written with the new position."""

    answers: Sequence[Handling]
    write: Callable[[Transaction], None] = nothing
    """Called in the leading transaction that advances: what it writes happens exactly once."""


@dataclass(frozen=True)
class Context:
    """What a handler works with."""

    store: Store
    term: int
    """Every write of its own goes through `store.leading(term)`."""
    now: datetime
    stopping: Callable[[], bool]
    """True once the process wants to end: a long handler returns what it has, or raises."""


Handler = Callable[[Sequence[QueuedEvent], Context], Handled]
