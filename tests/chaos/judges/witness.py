"""What a run sees and no row keeps: plans that were dropped, terms, sleepers, ends of processes."""

import time
from dataclasses import dataclass, field

from tests.chaos.judges.books import Books, TaskRow


@dataclass(frozen=True)
class Sleeper:
    """A worker that was stopped and went on; times are seconds since the epoch."""

    worker: str
    stopped_at: float
    went_on_at: float
    replaced: tuple[TaskRow, ...] = ()
    """Its tasks that had been ended behind its back, as their rows were just before it went on."""


@dataclass
class Witness:
    """Filled while a run goes on; `rules.py` says what must hold of it."""

    plans: dict[int, int] = field(default_factory=dict)
    """Id -> term."""
    terms: list[tuple[float, int]] = field(default_factory=list)
    """When a term was first seen, and its number."""
    sleepers: list[Sleeper] = field(default_factory=list)
    ended: list[tuple[float, str]] = field(default_factory=list)
    """When a process was found ended, and its name."""
    _asleep: dict[str, tuple[float, frozenset[str]]] = field(default_factory=dict)

    def look(self, books: Books) -> None:
        """Take what is there now; plans are read long before as many new ones drop them."""
        self.plans |= books.plans()
        term = books.term()
        if not self.terms or self.terms[-1][1] != term:
            self.terms.append((time.time(), term))

    def has_ended(self, name: str) -> None:
        """Note that a process was found ended."""
        self.ended.append((time.time(), name))
        self._asleep.pop(name, None)

    def falls_asleep(self, worker: str, books: Books) -> None:
        """Remember which tasks a worker holds that was stopped just now."""
        if worker not in self._asleep:
            self._asleep[worker] = (time.time(), _active(books, worker))

    def is_replaced(self, worker: str, books: Books) -> bool:
        """Tell whether no task that it held is its any more."""
        _, held = self._asleep[worker]
        return not held & _active(books, worker)

    def goes_on(self, worker: str, books: Books) -> Sleeper | None:
        """Note, just before it does, what became of its tasks; None: it did not sleep."""
        if worker not in self._asleep:
            return None
        since, held = self._asleep.pop(worker)
        replaced = tuple(t for t in books.tasks() if t.id in held and t.ended_at is not None)
        sleeper = Sleeper(worker, since, time.time(), replaced)
        self.sleepers.append(sleeper)
        return sleeper


def _active(books: Books, worker: str) -> frozenset[str]:
    return frozenset(t.id for t in books.tasks() if t.worker_id == worker and t.ended_at is None)
