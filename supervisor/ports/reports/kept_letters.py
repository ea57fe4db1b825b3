"""The ports to dead letters that are kept: to read them, and to note what people did with them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from supervisor.core.reports.status import StoreOutcome
from supervisor.ports.reports.dead_letters import DeadLetter

__all__ = ["KeptLetter", "KeptLetters", "LetterExtent", "LetterMark", "LetterMarks", "LetterPlace"]
__all__ += ["LetterVerb"]


class LetterPlace(NamedTuple):
    """Where a dead letter is kept; in files the day as a number, and the position in bytes."""

    partition: int
    offset: int


@dataclass(frozen=True)
class KeptLetter:
    """A dead letter at its place."""

    place: LetterPlace
    at: datetime | None
    """When it was kept; None: it is not known."""
    letter: DeadLetter


@dataclass(frozen=True)
class LetterExtent:
    """How many letters a partition has, and the offset of its first one."""

    partition: int
    first: int
    number: int


class KeptLetters(Protocol):
    """Dead letters as they are kept; safe to call from many threads.

    Each method raises `StoreAway`.
    """

    @property
    def source(self) -> str:
        """The name of the topic or folder, under which marks are noted."""
        ...

    def newest(
        self, before: LetterPlace | None, partition: int | None, limit: int
    ) -> Sequence[KeptLetter]:
        """Return letters behind `before`: highest partition first, and the newest first in each.

        `partition` narrows them to one.  There are no more once it returns none at all.
        """
        ...

    def get(self, place: LetterPlace) -> KeptLetter | None:
        """Return one letter; None: there is none, or it was deleted by its age."""
        ...

    def extents(self) -> Sequence[LetterExtent]:
        """Return what each partition has."""
        ...


class LetterVerb(StrEnum):
    """What somebody did with a dead letter."""

    REPLAY = "replay"
    DROP = "drop"


@dataclass(frozen=True)
class LetterMark:
    """What was last done with a dead letter, by whom, when and why."""

    verb: LetterVerb
    outcome: StoreOutcome | None
    """Of a replay; None: it was dropped."""
    detail: str
    """Why a replay was refused; empty: it was not."""
    by: str
    reason: str
    at: datetime
    digest: bytes
    """Of the letter: another one in its place, as in a topic that was made anew, has no mark."""

    @property
    def is_handled(self) -> bool:
        """Whether nothing is left to do: all but a replay that was refused."""
        return self.outcome is not StoreOutcome.REJECTED


class LetterMarks(Protocol):
    """Notes of what was done with dead letters; durable, safe to call from many threads.

    Each method raises `StoreAway` and `StoreRefuses`.
    """

    def of(self, source: str, places: Collection[LetterPlace]) -> Mapping[LetterPlace, LetterMark]:
        """Return the marks of letters that have one."""
        ...

    def note(self, source: str, place: LetterPlace, mark: LetterMark) -> None:
        """Note what was done; it replaces an earlier mark of the place."""
        ...

    def handled(self, source: str, extents: Collection[LetterExtent]) -> int:
        """Return how many letters within these extents are handled."""
        ...
