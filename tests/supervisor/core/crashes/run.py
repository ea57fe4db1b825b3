"""One seed: draw flows, let processes run, die and freeze, let it calm down, and judge."""

import gc
import random
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from tests.supervisor.core.crashes.checkers.judge import Judge
from tests.supervisor.core.crashes.processes.others import People, Projector, Relay
from tests.supervisor.core.crashes.processes.runner import RunnerLife
from tests.supervisor.core.crashes.processes.sequencer import Sequencer
from tests.supervisor.core.crashes.world.flows import CHILD, Flows
from tests.supervisor.core.crashes.world.log import Record
from tests.supervisor.core.crashes.world.messages import STATE
from tests.supervisor.core.crashes.world.world import PARTITIONS, World

TURNS = 2_500
"""So many turns have faults."""
QUIET_MAX = 60_000
"""Within so many turns after the faults everything has to end."""
STILL_MAX = 4_000
"""So many turns without any record: it goes no further."""
_SMALL_S = (0.01, 0.02, 0.05, 0.1, 0.3)
_QUIET_S = 0.4


class Process(Protocol):
    """One life of a process."""

    def steps(self) -> Iterator[str]:
        """Yield the name of the next step, before it is taken."""

    def beat(self) -> None:
        """Show that the process lives; a thread of its own does so, whatever the others do."""


@dataclass
class Life:
    """A process that is begun again when it has died."""

    name: str
    make: Callable[[], Process]
    process: Process | None = None
    running: Iterator[str] | None = None
    at: str = "poll"
    """The step that comes next."""
    away_until: datetime | None = None
    """When it is begun again, or thaws."""


@dataclass(frozen=True)
class ExecutionsOutcome:
    """What one seed came to."""

    seed: int
    violations: tuple[str, ...]
    faults: Counter[str] = field(default_factory=Counter)
    crash_points: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    steps: int = 0
    effects: int = 0
    drops: Counter[str] = field(default_factory=Counter)


def run_seed(seed: int, on_line: Callable[[str], None] | None = None) -> ExecutionsOutcome:
    """Run one seed; the same seed always gives the same."""
    gc.disable()
    try:
        return _Run(seed, on_line).outcome()
    finally:
        gc.enable()


class _Run:
    def __init__(self, seed: int, on_line: Callable[[str], None] | None) -> None:
        self._chance = random.Random(f"{seed}/run")
        flows = Flows(random.Random(f"{seed}/flows"))
        plans = [
            flows.plan("one", subflows=True),
            flows.plan("two", subflows=False),
            flows.plan(CHILD, subflows=False),
        ]
        self._judge = Judge({plan.flow: plan for plan in plans})
        self.world = World(seed, self._judge.plans, self._watch, on_line)
        self._judge.watch(self.world)
        self._violations: list[str] = []
        self._wrote = 0
        self._people = People(
            self.world, "people", self._chance.randint(3, 8), random.Random(f"{seed}/people")
        )
        self._lives = [Life("people", lambda: self._people)]
        for number in (1, 2):
            self._add(f"sequencer-{number}", lambda name: Sequencer(self.world, name))
            self._add(f"runner-{number}", lambda name: RunnerLife(self.world, name))
            self._add(f"relay-{number}", lambda name: Relay(self.world, name))
            self._add(f"projector-{number}", lambda name: Projector(self.world, name))
        self._cruel = self._chance.choice([0.005, 0.01, 0.02, 0.04])

    def _add(self, name: str, make: Callable[[str], Process]) -> None:
        self._lives.append(Life(name, lambda: make(name)))

    def outcome(self) -> ExecutionsOutcome:
        try:
            self._live()
        except Exception:  # noqa: BLE001 -- whatever it is, it belongs to this seed
            self._violations.append(f"the world broke: {traceback.format_exc()}")
        judge, world = self._judge, self.world
        return ExecutionsOutcome(
            world.seed,
            tuple(self._violations),
            world.faults,
            world.crash_points,
            len(judge.history.heads),
            sum(len(runs) for runs in judge.history.runs.values()),
            len(world.sink.visits),
            judge.drops(),
        )

    def _live(self) -> None:
        world = self.world
        while world.turns < TURNS and not self._violations:
            self._turn()
            self._fault()
        world.trouble = world.sink.trouble = False
        world.broker_away_until = world.now
        for life in self._lives:
            life.away_until = None
        began = self._wrote = world.turns
        while world.turns < began + QUIET_MAX and not self._violations:
            if world.turns > self._wrote + STILL_MAX:
                break
            self._turn()
            if world.turns % 60 == 0:
                self._people.help()
                if self._is_over():
                    break
        if not self._violations:
            self._violations += self._judge.at_end()

    def _turn(self) -> None:
        """Let one process take one step, and time pass."""
        world, chance = self.world, self._chance
        world.turns += 1
        world.pass_time(chance.choice(_SMALL_S) if world.trouble else _QUIET_S)
        for one in self._lives:
            if one.process is not None and (one.away_until is None or one.away_until <= world.now):
                one.process.beat()
        life = chance.choice(self._lives)
        if life.away_until is not None and life.away_until > world.now:
            return
        life.away_until = None
        if life.running is None:
            life.process = life.make()
            life.running = life.process.steps()
        world.trace(f"{life.name}: {life.at}")
        life.at = next(life.running)

    def _fault(self) -> None:
        """Perhaps let something die, freeze, or go away."""
        world, chance = self.world, self._chance
        dice = chance.random()
        if dice > self._cruel * 4:
            return
        at_work = [one for one in self._lives[1:] if one.at != "poll"]
        life = chance.choice(at_work if at_work and chance.random() < 0.7 else self._lives[1:])
        if dice < self._cruel:
            self._crash(life)
        elif dice < self._cruel * 1.4:
            life.away_until = world.now + timedelta(seconds=chance.uniform(1, 30))
            world.faults["a process freezes"] += 1
        elif dice < self._cruel * 1.5:
            world.broker_away_until = world.now + timedelta(seconds=chance.uniform(1, 15))
            world.faults["the broker is away"] += 1
        elif dice < self._cruel * 1.55:
            world.faults["everything dies at once"] += 1
            for one in self._lives[1:]:
                self._crash(one)
        elif dice < self._cruel * 1.8:
            world.faults["state is compacted"] += 1
            world.log.compact((STATE, chance.randrange(PARTITIONS)))
        elif dice < self._cruel * 1.9:
            world.faults["time leaps"] += 1
            world.pass_time(chance.uniform(1, 20))

    def _crash(self, life: Life) -> None:
        world = self.world
        world.trace(f"{life.name} dies before: {life.at}")
        world.faults["a process dies"] += 1
        world.crash_points[f"{life.name.partition('-')[0]}: {life.at}"] += 1
        life.process, life.running, life.at = None, None, "poll"
        life.away_until = world.now + timedelta(seconds=self._chance.uniform(0.1, 10))
        world.lose(life.name)

    def _watch(self, records: list[Record]) -> None:
        self._wrote = self.world.turns
        if not self._violations:
            self._violations += self._judge.see(records)

    def _is_over(self) -> bool:
        """Whether everything has ended and is forgotten."""
        database = self.world.database
        started = len(self._people.started) == self._people.starts
        idle = not database.unsent() and not database.projected and not self.world.on_way
        return started and idle and self._judge.is_drained()
