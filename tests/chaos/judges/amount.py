"""How much a soak has disturbed, and how much is enough.  Pure: no clock, no process."""

from collections import Counter
from dataclasses import dataclass, field

from tests.chaos.points import FROZEN_AT, ROWS
from tests.chaos.runs.schedule import KILLS, Kind

_KILLED_AT = ROWS - FROZEN_AT
"""Rows of the tables whose process dies."""
_WORDS = {
    Kind.FREEZE_LEADER: "frozen",
    Kind.FREEZE_WORKER: "frozen",
    Kind.POSTGRES_COMMIT: "COMMIT's reply lost",
}


@dataclass(frozen=True)
class Amount:
    """What was done so far."""

    kinds: dict[str, int] = field(default_factory=dict)
    """Kind of fault -> how often it struck, counted from the soak's own start."""
    records: int = 0
    """Acknowledged by the broker since the run began."""
    minutes: float = 0.0
    """Since the soak began."""

    @property
    def kills(self) -> int:
        """How many processes the soak has killed; none of the walk's are in it."""
        return kills_of(self.kinds)


@dataclass(frozen=True)
class Wanted:
    """What a soak has to have done before it may end."""

    kinds: tuple[str, ...] = ()
    """Each of them at least once."""
    kills: int = 0
    records: int = 0
    minutes: float = 0.0

    def short_of(self, had: Amount) -> list[str]:
        """Return in words what is missing; empty: it is enough."""
        short = {
            f"{had.kills} of {self.kills} kills": had.kills < self.kills,
            f"{had.records} of {self.records} records": had.records < self.records,
            f"{had.minutes:.1f} of {self.minutes:.1f} minutes": had.minutes < self.minutes,
        }
        never = [f"{kind} never struck" for kind in self.kinds if not had.kinds.get(kind)]
        return [*(text for text, holds in short.items() if holds), *never]


def kills_of(kinds: dict[str, int]) -> int:
    """Return how many of these killed a process: from outside, or at a point of the tables."""
    return sum(n for kind, n in kinds.items() if kind in {"kill", *KILLS, *_KILLED_AT})


def by_family(kinds: dict[str, int]) -> dict[str, int]:
    """Return what happened -> how often, for readers: wires by what was done to them.

    `died at a point` is both tables' and the soak's armed starts; `killed` is from outside.
    """
    families: Counter[str] = Counter()
    for kind, count in kinds.items():
        families[_family(kind)] += count
    return dict(families.most_common())


def _family(kind: str) -> str:
    if kind == Kind.FAILPOINT or kind in _KILLED_AT - {"B8"}:
        return "died at a point"
    if kind in {"kill", "B8", *KILLS}:
        return "killed"
    if kind in FROZEN_AT:
        return "frozen"
    return _WORDS.get(Kind(kind)) or f"wire {kind.rpartition('-')[2]}"
