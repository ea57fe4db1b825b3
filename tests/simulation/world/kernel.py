"""Time, chance and order of a simulated run: one heap of events, nothing else moves.

A process that is frozen, or slow, in the middle of something runs the kernel itself until it
thaws (`Kernel.hold`): what is on the stack stays as it is while the rest of the world goes on.
"""

import hashlib
import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

Act = Callable[[], None]
THAW_LOOK_S = 1.0
DEPTH_MAX = 2
"""Processes that may be held in the middle of something at once."""


class Crash(BaseException):
    """A process ends here; nothing of the product may catch it."""

    def __init__(self, process: "Process") -> None:
        super().__init__(process.name)
        self.process = process


class Process:
    """Something that can die, freeze and be started again; events belong to one of its lives."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.life = 0
        self.alive = False
        self.frozen_until = 0.0

    def born(self) -> None:
        """Begin a new life."""
        self.life += 1
        self.alive = True
        self.frozen_until = 0.0

    def die(self) -> None:
        """End at once; what was scheduled for this life never happens."""
        self.alive = False


class Kernel:
    """The scheduler, the only clock and the source of all chance."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now = 0.0
        self.depth = 0
        self.events = 0
        self.crashed: Callable[[Process], None] = lambda _: None
        self.observed: Act = lambda: None
        """Called after each event."""
        self._heap: list[tuple[float, int, Process | None, int, Act]] = []
        self._number = 0
        self._trace = hashlib.blake2b(digest_size=16)
        self.on_line: Callable[[str], None] | None = None

    def random(self, name: str) -> Random:
        """Return the stream of chance of this name."""
        return Random(f"{self.seed}/{name}")

    def trace(self, *words: object) -> None:
        """Note what happened; equal seeds note the same."""
        line = f"{self.now:.6f} " + " ".join(map(str, words))
        self._trace.update(line.encode())
        if self.on_line is not None:
            self.on_line(line)

    @property
    def may_hold(self) -> bool:
        """Whether one process more may stop in the middle of something now."""
        return self.depth < DEPTH_MAX

    @property
    def trace_hash(self) -> str:
        """Digest of all that was noted."""
        return self._trace.hexdigest()

    def monotonic(self) -> float:
        """Return the time that no process can bend."""
        return self.now

    def after(self, delay_s: float, act: Act, owner: Process | None = None) -> None:
        """Let `act` happen later, unless its owner's life has ended by then."""
        self._number += 1
        life = 0 if owner is None else owner.life
        at = self.now + max(0.0, delay_s)
        heapq.heappush(self._heap, (at, self._number, owner, life, act))

    def run(self, until: float) -> None:
        """Let everything happen that is due until then."""
        while self._heap and self._heap[0][0] <= until:
            at, number, owner, life, act = heapq.heappop(self._heap)
            if owner is not None:
                if not owner.alive or owner.life != life:
                    continue
                if owner.frozen_until > at:
                    # It may thaw sooner than it was to: look again now and then.
                    later = min(owner.frozen_until, at + THAW_LOOK_S)
                    heapq.heappush(self._heap, (later, number, owner, life, act))
                    continue
            self.now = max(self.now, at)
            self.events += 1
            try:
                act()
            except Crash as crash:
                self.crashed(crash.process)
            self.observed()
        self.now = max(self.now, until)

    def hold(self, process: Process, seconds: float, *, frozen: bool) -> None:
        """Stop here for a while: the whole process if it is frozen, else only this thread.

        Raises:
            Crash: the process died meanwhile.
        """
        life, until = process.life, self.now + seconds
        if frozen:
            process.frozen_until = max(process.frozen_until, until)
        with self._deeper():
            self.run(until)
        if process.life != life or not process.alive:
            raise Crash(process)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
