"""What a verb would do, in ids, numbers and words, before anybody presses it.  Pure.

    rows, positions of tasks ──► Foreseen ──► dry run: shown, with its digest
                                    └──────► act with that digest: the same effect, or nothing

The digest has what the verb does, and not what moves by itself: how far a task has read is left
out, because that is published, or read again, in any case.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.offset_moves import DIGEST_DIGITS
from supervisor.core.tables.bad_records import BadCount
from tasks.contract.offsets import Offsets


@dataclass(frozen=True)
class HeldRange:
    """A task, and how far it has read its range."""

    task: Task
    generation: Generation
    position: Offsets | None
    """As it last reported to this leader; None: it has not."""

    @property
    def unpublished(self) -> int | None:
        """How many offsets it has read that are in no table yet; None: not known."""
        if self.position is None:
            return None
        start = self.generation.start
        return sum(max(0, at - start.get(p, at)) for p, at in self.position.items())


@dataclass(frozen=True)
class GivenUpRange:
    """What was read of a range and is not published by it."""

    generation: Generation
    read_to: Offsets | None
    """The next offset that was to be read, by partition; None: not known."""


@dataclass(frozen=True)
class FileTotals:
    """Files of a table, counted."""

    number: int
    rows: int
    size_bytes: int


@dataclass(frozen=True)
class SentRecords:
    """Bad records that are sent to a topic."""

    topic: str
    """The target."""
    matching: int
    """Bad records that are kept and fit."""
    there: int | None
    """How many of these the topic has already; None: not known."""
    sends: int
    """How many are sent at most."""
    counts: tuple[BadCount, ...]
    """All that fit, by reason and partition, without hours."""
    readers: tuple[str, ...]
    """Ids of the supervisors that read the topic, as far as the caller may see them."""


@dataclass(frozen=True)
class Foreseen:
    """The effect of one verb; None in the place of a list: it is not about such things."""

    verb: str
    subject: str
    """Id of the supervisor, task, table or worker; `*`: every supervisor."""
    text: str
    """What happens, in a sentence."""
    undo: str
    """How it is undone, or that it cannot be."""
    digest: str
    ends: tuple[HeldRange, ...] | None = None
    """Tasks that end."""
    publishes: tuple[Generation, ...] | None = None
    """Ranges that are published first."""
    stays: tuple[Generation, ...] | None = None
    """Ranges that are read on."""
    gives_up: tuple[GivenUpRange, ...] | None = None
    """What is read and is not published by it: it is read again, or is in no table."""
    tasks: tuple[str, ...] | None = None
    """Ids of tasks that run on."""
    files: FileTotals | None = None
    items: tuple["Foreseen", ...] | None = None
    """What it does to each supervisor that it changes."""
    sent: SentRecords | None = None
    warnings: tuple[str, ...] = ()


def digest_of(verb: str, subject: str, *bound: Sequence[str]) -> str:
    """Return a digest of what a verb does: the same digest, the same effect.

    `bound`: lists of ids, or of facts in words, each without an order of its own.
    """
    lists = [sorted(each) for each in bound]
    text = json.dumps([verb, subject, lists], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def count_of(things: Iterable[object], noun: str) -> str:
    """Return a number of things in words: `1 range`, `2 ranges`."""
    number = len(list(things))
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def clause_of(things: Sequence[object], noun: str, one: str, many: str) -> str:
    """Return a number of things with its verb: `1 range ends`, `2 ranges end`."""
    return f"{count_of(things, noun)} {one if len(things) == 1 else many}"
