"""The states of a persister, and what a try to store leads to.

    STARTING ─► RUNNING ⇄ BACKING_OFF ─► STOPPED        resume: STOPPED ─► RUNNING
    any ─► DRAINING ─► TERMINATED

A store that is away is tried again by itself, with longer waits; one that refuses everything, such
as a wrong password, or that was away for too many tries in a row, waits for somebody.  Nothing is
committed meanwhile, and the membership of the group is kept.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["BackOff", "PersisterState", "PersisterStatus", "StoreOutcome"]


class StoreOutcome(StrEnum):
    """What became of one record."""

    STORED = "stored"
    CONFLICT = "conflict"
    """Its id is stored already: as good as stored.  The first write wins."""
    MISMATCH = "mismatch"
    """A conflict whose content differs from what is stored; counted and logged."""
    SKIPPED = "skipped"
    REJECTED = "rejected"
    """It can never be stored; it is done once its dead letter is acknowledged."""
    DEFERRED = "deferred"
    """The store is away or busy."""
    FATAL = "fatal"
    """The store refuses everything: no schema, wrong password."""

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be done for the record."""
        return self in _DONE


_DONE = {StoreOutcome.STORED, StoreOutcome.CONFLICT, StoreOutcome.MISMATCH, StoreOutcome.SKIPPED}


class PersisterState(StrEnum):
    """State of a persister."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    BACKING_OFF = "BACKING_OFF"
    STOPPED = "STOPPED"
    DRAINING = "DRAINING"
    TERMINATED = "TERMINATED"

    @property
    def answers_ping(self) -> bool:
        """Whether it is well, or gets well by itself."""
        return self in {PersisterState.RUNNING, PersisterState.BACKING_OFF}


_ENDING = {PersisterState.DRAINING, PersisterState.TERMINATED}


@dataclass(frozen=True)
class BackOff:
    """Waits between tries, in seconds."""

    min_s: float = 3.0
    max_s: float = 30.0
    random_factor: float = 0.2
    tries_max: int = 10

    def wait_s(self, tries: int, chance: float) -> float:
        """Return the wait after the n-th failed try in a row; `chance` is from 0 to 1."""
        doubled = min(self.min_s * 2.0 ** min(tries - 1, 30), self.max_s)
        return min(doubled * (1 + self.random_factor * chance), self.max_s)


@dataclass(frozen=True)
class PersisterStatus:
    """A persister as it is now."""

    state: PersisterState = PersisterState.STARTING
    tries: int = 0
    """Failed tries in a row."""
    reason: str = ""
    """Why it backs off or is stopped, for people."""

    def ready(self) -> "PersisterStatus":
        """It reads and has reached its store, or it was resumed."""
        return self if self.state in _ENDING else PersisterStatus(PersisterState.RUNNING)

    def failed(self, outcome: StoreOutcome, reason: str, back_off: BackOff) -> "PersisterStatus":
        """A try ended as `outcome`, which is DEFERRED or FATAL."""
        if self.state in _ENDING or self.state is PersisterState.STOPPED:
            return self
        tries = self.tries + 1
        gives_up = outcome is StoreOutcome.FATAL or tries >= back_off.tries_max
        state = PersisterState.STOPPED if gives_up else PersisterState.BACKING_OFF
        return PersisterStatus(state, tries, reason)

    def paused(self, reason: str) -> "PersisterStatus":
        """Somebody stopped it, until it is resumed."""
        if self.state in _ENDING:
            return self
        return PersisterStatus(PersisterState.STOPPED, 0, reason)

    def succeeded(self) -> "PersisterStatus":
        """A try ended well: the next wait is short again."""
        if self.state in {PersisterState.STARTING, PersisterState.BACKING_OFF}:
            return PersisterStatus(PersisterState.RUNNING)
        return replace(self, tries=0)

    def drained(self) -> "PersisterStatus":
        """It is to end, and finishes what is under way."""
        return self if self.state in _ENDING else replace(self, state=PersisterState.DRAINING)

    def ended(self) -> "PersisterStatus":
        """Nothing is under way any more."""
        return replace(self, state=PersisterState.TERMINATED)
