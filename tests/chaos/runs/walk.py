"""Every row of the tables A and B, one after the other, by failpoints of real processes.

    overlords   one leads and dies at its point; the other takes over, armed with the next one
    workers     one at a time walks its table, each round another; the rest bring ranges home
    then        all workers die while a range is published (B8), and leaders sleep (D2)

So each point is followed by a restart and by a takeover, and the next fault comes while the last
one is being recovered from.
"""

import random
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.chaos.points import (
    EVERY_WORKER,
    LEADER_STOPS,
    OVERLORD_POINTS,
    WORKER_POINTS,
    Point,
    Verb,
)
from tests.chaos.processes.fleet import OVERLORDS
from tests.chaos.runs.run import Run, Unarmed
from tests.chaos.runs.takeover import Takeover
from tests.waiting import wait_until

_KILLED = -9
_OVERLORD_WITHIN_S = 60.0
_WORKER_WITHIN_S = 180.0
_REST_S = 6.0
_MORE_S = 180.0
_TRIES_MORE = 5
"""How often a point is armed once more when it was missed."""
_REPLACED_WITHIN_S = 60.0
"""How much longer a worker sleeps if its tasks are still its own: a leader has to see that."""


@dataclass(frozen=True)
class Plan:
    """How much of the tables is walked."""

    rounds: int = 1
    in_a_row_max: int = 10
    frozen_max_s: float = 60.0
    within_s: float = 3600.0
    """After so long no further point is armed, if enough were hit."""
    hits_min: int = 0
    """A slow machine may take `_MORE_S` longer until so many were hit."""
    hits_each: int = 0
    """A point that was not come to is tried again for so many hits of each."""
    leader_stops: int = 0
    """How often a leader sleeps at each of the places of D2."""


SHORT = Plan(in_a_row_max=3, frozen_max_s=15.0, within_s=90.0, hits_min=8)
"""As much as fits into a test; what was not reached is told, not hidden."""
LONG = Plan(rounds=5, hits_each=5, leader_stops=5)
"""Every row, as often as is asked of a release; a point hit less often is a trouble."""


class Walk:
    """Arms what is started with the next point, and counts who died where."""

    def __init__(self, run: Run, plan: Plan, seed: int) -> None:
        """Put the points in an order of the seed."""
        self._run = run
        self._plan = plan
        self.hits: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self._armed: dict[str, tuple[Point, float]] = {}
        self._thawing: dict[str, float] = {}
        self._resting: dict[str, float] = {}
        self._row = 0
        """How many leaders have died in a row at a point that asks for several."""
        self._takeover = Takeover(run, seed)
        chance = random.Random(seed)
        overlords: list[Point] = []
        self._workers: deque[tuple[str, deque[Point]]] = deque()
        for number in range(plan.rounds):
            for point in chance.sample(OVERLORD_POINTS, len(OVERLORD_POINTS)):
                overlords += [point] * min(point.in_a_row, plan.in_a_row_max)
            workers = run.fleet.shape.workers
            points = deque(chance.sample(WORKER_POINTS, len(WORKER_POINTS)))
            self._workers.append((workers[number % len(workers)], points))
        self._overlords = deque(overlords)

    def run(self) -> None:
        """Walk until no point is left, or the time is over.  The run was begun armed by this."""
        run = self._run
        until = time.monotonic() + self._plan.within_s
        for name in OVERLORDS:  # the first one was started unarmed
            if name not in self._armed:
                run.kill(name, "kill")
        while (self._left() or self._armed or self._resting) and self._has_time(until):
            run.verb = self._verb()
            self._thaw_who_is_due()
            self._end_rests()
            self._arm_a_worker()
            self._give_up_who_is_late()
            run.tick()
        run.verb = None
        self._disarm()
        for _ in range(self._plan.rounds):
            self._repeat(EVERY_WORKER, self._kill_every_worker)
        for point in LEADER_STOPS:
            for _ in range(self._plan.leader_stops):
                self._repeat(point, partial(self._takeover.happens_at, point))

    @property
    def findings(self) -> tuple[str, ...]:
        """What was wrong when leaders slept."""
        return tuple(self._takeover.findings)

    def _repeat(self, point: Point, happens: Callable[[], bool]) -> None:
        """Let it happen until it does what the point says, with a bound."""
        for _ in range(1 + _TRIES_MORE):
            if happens():
                self.hits[point.name] += 1
                return
            self.missed[point.name] += 1
            self._run.say(f"{point.name} was missed")

    def _has_time(self, until: float) -> bool:
        now, few = time.monotonic(), self.hits.total() < self._plan.hits_min
        return now < until or (few and now < until + _MORE_S)

    def _disarm(self) -> None:
        """Let nobody die armed in the quiet phase; workers are all killed next."""
        run = self._run
        run.arming = Unarmed()
        for name, (point, _) in self._armed.items():
            self.missed[point.name] += 1
            if name in OVERLORDS:
                run.kill(name, "kill")
        self._armed.clear()
        self._resting.clear()

    def failpoint_for(self, name: str) -> str:
        """Return the next point's."""
        queue = self._queue(name)
        if not queue:
            return ""
        point = queue.popleft()
        self._armed[name] = (point, time.monotonic())
        return point.failpoint

    def ended(self, name: str, code: int | None) -> None:
        """Count a point that did its work; one that ended otherwise is tried again."""
        point, _ = self._armed.pop(name, (None, 0.0))
        self._thawing.pop(name, None)
        died = point is not None and code == _KILLED
        if name in OVERLORDS and not (died and point is not None and point.in_a_row > 1):
            self._break_the_row()
        if point is None:
            return
        if died:
            self._has_died_at(point)
            workers = () if name in OVERLORDS else (name,)
            self._run.faults.note(point.row, name, workers=workers)
        else:
            self._again(name, point)

    def _has_died_at(self, point: Point) -> None:
        if point.in_a_row > 1:
            self._row += 1
            if self._row < min(point.in_a_row, self._plan.in_a_row_max):
                return
            self._row = 0
        self.hits[point.name] += 1

    def _break_the_row(self) -> None:
        """Begin a row anew in which a leader ended otherwise: what has died in it counts not."""
        died, self._row = self._row, 0
        point = next(p for p in OVERLORD_POINTS if p.in_a_row > 1)
        if died:
            self.missed[point.name] += 1
            self._run.say(f"{point.name}: {died} in a row, then one that ended otherwise")
        if died and self._is_tried_again(point):
            self._overlords.extendleft([point] * died)

    def _is_tried_again(self, point: Point) -> bool:
        return bool(self._plan.hits_each) and self.missed[point.name] <= _TRIES_MORE

    def _again(self, name: str, point: Point) -> None:
        """Put a point back: at the end, or where its row goes on."""
        queue = self._queue(name)
        if point.in_a_row > 1:
            queue.appendleft(point)
        else:
            queue.append(point)

    def _queue(self, name: str) -> deque[Point]:
        if name in OVERLORDS:
            return self._overlords
        return self._workers[0][1] if self._workers and self._workers[0][0] == name else deque()

    def _left(self) -> bool:
        return bool(self._overlords) or bool(self._workers)

    def _arm_a_worker(self) -> None:
        """Let the worker whose turn it is begin its round, by a start of its own."""
        while self._workers and not self._workers[0][1]:
            self._workers.popleft()
        if not self._workers:
            return
        name, _ = self._workers[0]
        busy = self._resting.keys() | {n for n in self._armed if n not in OVERLORDS}
        if not busy:
            self._run.kill(name, "kill")

    def _verb(self) -> Verb | None:
        leader = self._run.leader()
        armed = None if leader is None else self._armed.get(leader)
        return None if armed is None else armed[0].verb

    def _thaw_who_is_due(self) -> None:
        run = self._run
        for name, since in list(run.fleet.frozen.items()):
            if (armed := self._armed.get(name)) is None:
                continue
            point, _ = armed
            if name not in self._thawing:
                self._thawing[name] = since
                run.faults.note(point.row, name, workers=(name,))
                run.witness.falls_asleep(name, run.books)
            slept_s = time.monotonic() - since - min(point.frozen_s, self._plan.frozen_max_s)
            if slept_s < 0 or not self._is_late_enough(name, slept_s):
                continue
            del self._thawing[name], self._armed[name]
            self._thaw(name, point)
            self._resting[name] = time.monotonic() + _REST_S

    def _is_late_enough(self, name: str, slept_s: float) -> bool:
        run = self._run
        return slept_s > _REPLACED_WITHIN_S or run.witness.is_replaced(name, run.books)

    def _thaw(self, name: str, point: Point) -> None:
        """Let a worker go on; only one whose tasks were replaced meanwhile is a hit."""
        run = self._run
        sleeper = run.witness.goes_on(name, run.books)
        run.fleet.thaw(name)
        run.faults.touch(name)
        if sleeper is not None and sleeper.replaced:
            self.hits[point.name] += 1
            run.say(f"{name} goes on after {point.name}")
            return
        self.missed[point.name] += 1
        run.say(f"{name} goes on after {point.name}, and nobody has replaced its tasks")
        if self._is_tried_again(point):
            self._queue(name).append(point)

    def _end_rests(self) -> None:
        """Forget who went on long enough: it has had the time to do harm."""
        for name, until in list(self._resting.items()):
            if time.monotonic() >= until:
                del self._resting[name]

    def _give_up_who_is_late(self) -> None:
        """Kill whom its point did not come to, and count that; a follower may wait."""
        leader = self._run.leader()
        for name, (point, since) in list(self._armed.items()):
            waits = name in OVERLORDS and name != leader
            within_s = _OVERLORD_WITHIN_S if name in OVERLORDS else _WORKER_WITHIN_S
            if waits or name in self._thawing:
                self._armed[name] = (point, time.monotonic())
            elif time.monotonic() - since > within_s:
                self.missed[point.name] += 1
                del self._armed[name]
                if self._is_tried_again(point):
                    self._again(name, point)
                self._run.say(f"{name} did not come to {point.name}")
                self._run.kill(name, "kill")

    def _kill_every_worker(self) -> bool:
        """Kill all while a range is published; tell whether it was not yet when all were dead."""
        run, workers = self._run, self._run.fleet.shape.workers
        run.tick_until(lambda: bool(run.books.publishing()), 180)
        before = run.books.publishing()
        for name in workers:
            run.kill(name, EVERY_WORKER.row)
        wait_until(lambda: run.fleet.ended().keys() >= set(workers))
        cut_off, known = before & run.books.publishing(), run.books.look().publications
        run.tick_until(lambda: run.books.look().publications > known, 180)
        return bool(cut_off)
