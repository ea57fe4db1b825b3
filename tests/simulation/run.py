"""One seed: draw its parameters, let it happen, let it calm down, and say what was found."""

import gc
import logging
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache

import structlog

from tests.simulation.checkers import invariants
from tests.simulation.faults.beside import draw_beside
from tests.simulation.faults.departures import Departures
from tests.simulation.faults.faults import draw
from tests.simulation.faults.lives import draw_lives
from tests.simulation.faults.outside import Outside
from tests.simulation.processes.next_door import NextDoor
from tests.simulation.processes.quick import quick_copies
from tests.simulation.processes.tables.moments import TableMoments
from tests.simulation.processes.tables.waits import shorter_waits
from tests.simulation.processes.user import User
from tests.simulation.world.kernel import Kernel
from tests.simulation.world.secret import secret_in_place
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import World

QUIET_MAX_S = 400.0
"""Lag has to be 0 within this after the last fault (I11)."""

HANDOFFS = 3
FAULTS = 20
"""A run has so many of both.  Handoffs that are missing when the time for faults is over happen
in the quiet: under still more faults they might never."""
LATE_MAX = 6
"""So many times that time may be used up: a run that comes to no end is a bug."""
_DIVERGED = "SELECT count(*) FROM publications WHERE diverged IS NOT NULL"
_OF_OURS = f"SELECT count(*) FROM generations WHERE supervisor_id = '{SUPERVISOR}'"  # noqa: S608
_HANDOFFS = f"{_OF_OURS} AND end_fixed_at IS NOT NULL"
_AT_WORK = f"{_OF_OURS} AND ended_at IS NULL AND state <> 'READING'"
_CAUSES = {
    "taskDuration": "taskDuration%",
    "intermediateHandoffPeriod": "intermediateHandoffPeriod%",
    "maxTotalRows": "maxTotalRows%",
    "maxRowsPerSegment": "maxRowsPerSegment%",
    "boundedStreamConfig": "all that boundedStreamConfig asks%",
}
"""The reason of a handoff that was due by itself."""

Patch = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class Outcome:
    """What one seed came to."""

    seed: int
    violations: tuple[str, ...]
    faults: int
    port_calls: int
    handoffs: int
    publishes: int
    pairs: Counter[tuple[str, str]]
    trace_hash: str
    quiet_s: float = 0.0
    events: int = 0
    fault_kinds: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    """Rows of the failure tables A and B that happened."""
    causes: Counter[str] = field(default_factory=Counter)
    """How many handoffs were due for what."""


def run_seed(
    seed: int, *, patches: Sequence[Patch] = (), on_line: Callable[[str], None] | None = None
) -> Outcome:
    """Run one seed, with planted faults if there are any; the same seed does the same."""
    with ExitStack() as stack, _silent(), _no_collections():
        for patch in patches:
            stack.enter_context(patch())
        stack.enter_context(secret_in_place())
        stack.enter_context(quick_copies())
        stack.enter_context(shorter_waits())
        return _Run(seed, on_line).outcome()


class _Run:
    def __init__(self, seed: int, on_line: Callable[[str], None] | None) -> None:
        chance = Kernel(seed).random
        swarm = draw(chance("swarm"), chance("rare"))
        lives = draw_lives(chance("tables"))
        beside = draw_beside(chance("beside"), slots=swarm.workers * swarm.slots)
        self.world = World(seed, replace(swarm, lives=lives), beside)
        self.next_door = NextDoor(self.world)
        self.world.kernel.on_line = on_line
        self.world.kernel.observed = self._observe
        self.violations: list[str] = []

    def outcome(self) -> Outcome:
        world = self.world
        try:
            self._live()
        except Exception:  # noqa: BLE001 -- whatever it is, it belongs to this seed
            self.violations.append(f"the world broke: {traceback.format_exc()}")
        tally = world.tally
        tally.rows["B11"] += self._count(_DIVERGED)
        return Outcome(
            seed=world.kernel.seed,
            violations=(*self.violations, *world.bugs),
            faults=tally.faults.total(),
            port_calls=tally.port_calls,
            handoffs=self._count(_HANDOFFS),
            publishes=self._count("SELECT count(*) FROM publications"),
            pairs=tally.pairs,
            trace_hash=world.kernel.trace_hash,
            quiet_s=self.quiet_s,
            events=world.kernel.events,
            fault_kinds=tally.faults,
            rows=tally.rows,
            causes=Counter(
                {
                    name: self._count(f"{_HANDOFFS} AND handoff_why LIKE '{reason}'")
                    for name, reason in _CAUSES.items()
                }
            ),
        )

    quiet_s = 0.0

    def _live(self) -> None:
        world, swarm = self.world, self.world.swarm
        for topic in world.topics:
            world.kafka.create(topic, swarm.partitions)
        for overlord in world.overlords:
            overlord.start()
        for worker in world.workers:
            worker.start()
        user = User(world)
        user.insist()
        outside = Outside(world, user)
        self.next_door.begin(user)
        world.kernel.after(3.0, outside.begin)
        world.kernel.after(3.0, Departures(world).begin)
        TableMoments(world, user).begin()
        world.kernel.after(4.0, user.raise_ends)
        world.kernel.after(3.0, lambda: setattr(world.network, "weather", world.weather()))
        while self._is_young() and world.kernel.now < LATE_MAX * swarm.faults_for_s:
            world.kernel.run(world.kernel.now + 1.0)
            world.late = world.kernel.now >= swarm.faults_for_s
        self._calm_down(user)
        if not self.violations:
            self.violations += invariants.at_end(world)

    def _is_young(self) -> bool:
        """Whether too little has happened yet."""
        if self.violations:
            return False
        if self.world.tally.faults.total() < FAULTS:
            return True
        if self.world.storm.of_leaders(self.world.kernel.now):
            return True
        return not self.world.late and self._count(_HANDOFFS) < HANDOFFS

    def _calm_down(self, user: User) -> None:
        world = self.world
        world.calm_down()
        world.late = True
        self.next_door.calm_down()
        user.cure()
        user.satisfied = False
        world.kernel.after(0.5, user.insist)
        world.kernel.after(8.0, user.mend)
        patience_s = 1.0 if world.swarm.rare.hurries else world.swarm.task_duration_s
        world.kernel.after(patience_s + 2.0, user.hurry)
        world.kernel.trace("quiet")
        began = world.kernel.now
        longest = began + 12 * world.swarm.task_duration_s
        while world.kernel.now < began + QUIET_MAX_S and not self.violations:
            world.kernel.run(world.kernel.now + 1.0)
            enough = self._count(_HANDOFFS) >= HANDOFFS and world.tables.is_quiet
            if enough or world.kernel.now > longest:
                world.dry = True
            if world.dry and user.satisfied and self._is_done():
                break
        self.quiet_s = world.kernel.now - began
        if world.lag():
            self.violations.append(f"I11 lag is {world.lag()} after {self.quiet_s:.0f} s of quiet")
        if not self.next_door.is_done():
            self.violations.append(f"I11 the other has lag after {self.quiet_s:.0f} s of quiet")

    def _is_done(self) -> bool:
        if self.world.lag() or self.world.is_broken():
            return False
        if not (self.next_door.is_done() and self.world.tables.is_settled()):
            return False
        return not self._count(_AT_WORK)

    def _count(self, statement: str) -> int:
        return int(self.world.store_connection.execute(statement).fetchone()[0])

    def _observe(self) -> None:
        if self.world.changed and not self.violations:
            self.world.changed = False
            self.violations += invariants.after_event(self.world)


@contextmanager
def _silent() -> Iterator[None]:
    """Let the product log nothing."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**before)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Let cycles of objects wait for the end: looking for them costs more than they do."""
    gc.disable()
    _freeze()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


@cache
def _freeze() -> None:
    gc.freeze()  # the product's modules are not looked through again
