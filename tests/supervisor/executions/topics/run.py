"""One seed over topics: executors live, die and freeze; then all calms down, and is judged."""

import gc
import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from supervisor.core.executions.entities import Execution
from supervisor.ports.flows.execution_log import LogEntry
from tests.supervisor.core.crashes.run import ExecutionsOutcome
from tests.supervisor.core.crashes.world.flows import CHILD, Flows
from tests.supervisor.executions.lives.world.world import Died
from tests.supervisor.executions.topics.executor import ExecutorLife
from tests.supervisor.executions.topics.judge import TopicJudge
from tests.supervisor.executions.topics.people import PartitionPeople
from tests.supervisor.executions.topics.world import TopicWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

TURNS = 700
"""So many turns have faults."""
QUIET_MAX = 5_000
"""Within so many turns after the faults everything has to end."""
_SMALL_S = (0.05, 0.1, 0.3, 1.0)
_QUIET_S = 1.0
_PEOPLE = "people"


@dataclass
class _Process:
    name: str
    running: "Iterator[str] | None" = None
    life: ExecutorLife | None = None
    at: str = "poll"
    away_until: datetime | None = None
    lives: list[str] = field(default_factory=list)


def run_seed(seed: int, on_line: Callable[[str], None] | None = None) -> ExecutionsOutcome:
    """Run one seed; the same seed always gives the same."""
    gc.disable()
    try:
        return _Run(seed, on_line).outcome()
    finally:
        gc.enable()


class _Run:
    def __init__(self, seed: int, on_line: Callable[[str], None] | None) -> None:
        self._chance = random.Random(f"{seed}/topics")
        flows = Flows(random.Random(f"{seed}/flows"))
        plans = {
            "one": flows.plan("one", subflows=True),
            "two": flows.plan("two", subflows=False),
            CHILD: flows.plan(CHILD, subflows=False),
        }
        self.world = world = TopicWorld(seed, "", on_line, flows=plans)
        world.cruel = self._chance.choice([0.002, 0.005, 0.01, 0.02])
        world.committed = self._committed
        self._judge = TopicJudge(world)
        world.held = self._judge.claims
        self._people = PartitionPeople(
            world,
            random.Random(f"{seed}/people"),
            self._chance.randint(3, 8),
            self._lives,
            self._known,
            self._bury,
            self._judge.wanted,
        )
        self._violations: list[str] = []
        self._processes = [_Process(_PEOPLE), _Process("executor-1"), _Process("executor-2")]

    def _known(self) -> Sequence[Execution]:
        history = self._judge.history
        return [one for name, one in history.heads.items() if name not in history.gone]

    def _lives(self) -> list[ExecutorLife]:
        now = self.world.now
        return [
            one.life
            for one in self._processes
            if one.life is not None and (one.away_until is None or one.away_until <= now)
        ]

    def _committed(self, part: int, life: str, entries: Sequence[LogEntry]) -> None:
        if not self._violations:
            self._violations += self._judge.see(part, life, entries)

    def outcome(self) -> ExecutionsOutcome:
        try:
            self._live()
        except Exception:  # noqa: BLE001 -- whatever it is, it belongs to this seed
            self._violations.append(f"the world broke: {traceback.format_exc()}")
        history, world = self._judge.history, self.world
        return ExecutionsOutcome(
            world.seed,
            tuple(self._violations),
            world.faults,
            world.crash_points,
            len(history.heads),
            sum(len(runs) for runs in history.runs.values()),
            len(world.sink.visits),
        )

    def _live(self) -> None:
        world = self.world
        while world.turns < TURNS and not self._violations:
            self._turn()
            self._fault()
        world.trouble = world.sink.trouble = False
        for one in self._processes:
            one.away_until = None
            if one.life is not None:
                one.life.clock.behind = timedelta(0)
        began = world.turns
        while world.turns < began + QUIET_MAX and not self._violations:
            self._turn()
            if world.turns % 30 == 0:
                self._people.help()
                if not self._people.open and not next(self._judge.rest(self._lives()), ""):
                    break
        if not self._violations:
            self._violations += self._judge.at_end(self._lives())

    def _turn(self) -> None:
        """Let one process take one step, and time pass."""
        world, chance = self.world, self._chance
        world.turns += 1
        world.pass_time(chance.choice(_SMALL_S) if world.trouble else _QUIET_S)
        for life in self._lives():
            life.beat()
        one = chance.choice(self._processes)
        if one.away_until is not None and one.away_until > world.now:
            return
        one.away_until = None
        if one.running is None:
            if one.name == _PEOPLE:
                one.running = self._people.steps()
            else:
                one.life = ExecutorLife(world, one.name)
                one.running = one.life.steps()
        world.trace(f"{one.name}: {one.at}")
        try:
            one.at = next(one.running)
        except Died as error:
            self._bury(error.life)
        except StopIteration:
            world.faults["a runner is taken for dead"] += 1
            one.life, one.running, one.at = None, None, "poll"

    def _bury(self, life: str) -> None:
        (one,) = [one for one in self._processes if one.life and one.life.life == life]
        self._crash(one)

    def _fault(self) -> None:
        """Perhaps let something die, freeze, or have a wrong clock."""
        world, chance = self.world, self._chance
        dice = chance.random() / world.cruel
        one = chance.choice(self._processes[1:])
        if dice < 1:
            world.faults["an executor dies"] += 1
            world.crash_points[one.at] += 1
            self._crash(one)
        elif dice < 2:
            one.away_until = world.now + timedelta(seconds=chance.uniform(1, 30))
            world.faults["an executor freezes"] += 1
        elif dice < 2.3 and one.life is not None:
            one.life.clock.behind = timedelta(seconds=chance.uniform(0, 10))
            world.faults["a clock is set back"] += 1
        elif dice < 2.5:
            world.faults["time leaps"] += 1
            world.pass_time(chance.uniform(1, 60))
        elif dice < 2.7:
            world.faults["everything dies at once"] += 1
            for each in self._processes[1:]:
                self._crash(each)

    def _crash(self, one: _Process) -> None:
        self.world.trace(f"{one.name} dies before: {one.at}")
        one.life, one.running, one.at = None, None, "poll"
        one.away_until = self.world.now + timedelta(seconds=self._chance.uniform(0.1, 10))
