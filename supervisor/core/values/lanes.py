"""Fair turns on a bounded pool of threads: a silent neighbour delays its own work and no other's.

    work ─► the queue of its neighbour ─► its turn ─► answered quickly ─► it is trusted
                                                   └► late or never ────► it is doubted

A lane is a set of brokers with the user that asks them; its neighbours differ in other properties.
A neighbour is doubted until it has answered once.

    threads           at most             of these, for doubted neighbours
    ─────────────     ────────────────    ────────────────────────────────
    of one lane       `Width.lane`        one
    of all lanes      `Width.pool`        half

The next turn is that of the lane that has waited for longest since its last turn, of a lane whose
brokers answer before one whose do not; in a lane it is that of the neighbour that has waited for
longest.  So whoever brings much work waits for it, and a newcomer does not.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Work = TypeVar("Work")

QUICK_S = 2.0
"""A neighbour that takes longer to answer is doubted, as one that does not answer."""
NEIGHBOURS_MAX = 2_000
"""Neighbours that are remembered while they have no work."""


@dataclass(frozen=True)
class Width:
    """The maximum numbers of threads."""

    pool: int
    lane: int


@dataclass(frozen=True)
class Neighbour:
    """Brokers as one kind of client sees them."""

    lane: str
    """The brokers and the user."""
    properties: str


@dataclass(frozen=True)
class Turn(Generic[Work]):
    """Work that may run now."""

    neighbour: Neighbour
    work: Work
    doubted: bool
    """Whether the neighbour was doubted when the turn began."""


@dataclass
class _Queue(Generic[Work]):
    waiting: deque[Work] = field(default_factory=deque)
    running: int = 0
    trusted: bool = False
    last_turn: int = 0


@dataclass
class _Running:
    all: int = 0
    doubted: int = 0
    last_turn: int = 0
    answers: bool = False
    """Whether a neighbour has answered, and did so the last time."""

    def begin(self, turn: int, *, doubted: bool) -> None:
        self.all += 1
        self.doubted += doubted
        self.last_turn = turn

    def end(self, *, doubted: bool) -> None:
        self.all -= 1
        self.doubted -= doubted


class Lanes(Generic[Work]):
    """The queues of all neighbours; not safe to call from several threads at once."""

    def __init__(self, width: Width) -> None:
        self._width = width
        self._running = _Running()
        self._lanes: dict[str, _Running] = {}
        self._queues: dict[Neighbour, _Queue[Work]] = {}
        self._waiting: dict[Neighbour, None] = {}
        """Neighbours with work that waits, in the order in which it came."""

    def add(self, neighbour: Neighbour, work: Work) -> None:
        """Put work into the queue of a neighbour."""
        self._queues.setdefault(neighbour, _Queue()).waiting.append(work)
        self._lanes.setdefault(neighbour.lane, _Running())
        self._waiting[neighbour] = None

    def start(self) -> Iterator[Turn[Work]]:
        """Yield the turns that begin now."""
        while (neighbour := self._next()) is not None:
            queue = self._queues[neighbour]
            turn = Turn(neighbour, queue.waiting.popleft(), doubted=not queue.trusted)
            if not queue.waiting:
                del self._waiting[neighbour]
            number = self._running.last_turn + 1
            for running in (self._running, self._lanes[neighbour.lane]):
                running.begin(number, doubted=turn.doubted)
            queue.running += 1
            queue.last_turn = number
            yield turn

    def ended(self, turn: Turn[Work], *, answered: bool, took_s: float) -> None:
        """Note the end of a turn: whether the neighbour answered, and after how many seconds."""
        lane, queue = self._lanes[turn.neighbour.lane], self._queues[turn.neighbour]
        for running in (self._running, lane):
            running.end(doubted=turn.doubted)
        queue.running -= 1
        trusted = answered and took_s <= QUICK_S
        if trusted or queue.trusted:  # a neighbour that was doubted already says nothing new
            lane.answers = trusted
        queue.trusted = trusted
        self._forget_some()

    def _next(self) -> Neighbour | None:
        if self._running.all >= self._width.pool:
            return None
        ready = filter(self._may_start, self._waiting)
        return min(ready, key=self._waits_since, default=None)

    def _may_start(self, neighbour: Neighbour) -> bool:
        lane = self._lanes[neighbour.lane]
        if lane.all >= self._width.lane:
            return False
        doubted_max = max(1, self._width.pool // 2)
        may_doubt = not lane.doubted and self._running.doubted < doubted_max
        return may_doubt or self._queues[neighbour].trusted

    def _waits_since(self, neighbour: Neighbour) -> tuple[bool, int, int]:
        lane = self._lanes[neighbour.lane]
        return not lane.answers, lane.last_turn, self._queues[neighbour].last_turn

    def _forget_some(self) -> None:
        """Forget the idle neighbour with the oldest turn, beyond those that are remembered."""
        if len(self._queues) <= NEIGHBOURS_MAX:
            return
        idle = [c for c, q in self._queues.items() if not q.running and not q.waiting]
        if idle:
            oldest = min(idle, key=lambda neighbour: self._queues[neighbour].last_turn)
            del self._queues[oldest]
            if all(neighbour.lane != oldest.lane for neighbour in self._queues):
                del self._lanes[oldest.lane]


def retry_s(failures: int, first_s: float, max_s: float) -> float:
    """Return for how long a neighbour rests after so many failures in a row: doubled each time."""
    doublings = min(max(failures - 1, 0), 30)  # beyond any bound, and no huge number
    return min(max_s, first_s * 2.0**doublings)
