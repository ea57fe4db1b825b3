"""One seed over a database: leaders live, die and freeze; then all calms down, and is judged."""

import gc
import random
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import cast

from supervisor.adapters.executions.database import migrate_executions
from tests.supervisor.core.crashes.run import ExecutionsOutcome
from tests.supervisor.executions.lives.checkers.judge import SqlJudge
from tests.supervisor.executions.lives.checkers.rows import Rows
from tests.supervisor.executions.lives.processes.leader import LeaderLife
from tests.supervisor.executions.lives.processes.outside import Outside
from tests.supervisor.executions.lives.world.documents import Documents
from tests.supervisor.executions.lives.world.world import Died, World

TURNS = 240
"""So many turns have faults."""
QUIET_MAX = 12_000
"""Within so many turns after the faults everything has to end."""
STILL_MAX = 1_500
"""So many turns without a new version of anything: it goes no further."""
_SMALL_S = (0.1, 0.3, 1.0, 2.0, 5.0)
_QUIET_S = 2.0
_OUTSIDE = "outside"


@dataclass
class Process:
    """A process, and when it goes on."""

    name: str
    running: Iterator[str] | None = None
    life: LeaderLife | None = None
    at: str = "poll"
    away_until: datetime | None = None


def run_seed(seed: int, on_line: Callable[[str], None] | None = None) -> ExecutionsOutcome:
    """Run one seed; the same seed always gives the same."""
    gc.disable()
    folder = Path(tempfile.mkdtemp(prefix="tidegate-lives-", dir=_memory()))
    try:
        file = folder / "executions.db"
        shutil.copy(_migrated(), file)
        with closing(_reader(file)) as reader:
            run = _Run(seed, f"sqlite:///{file}", Rows(reader), on_line)
            return run.outcome()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        gc.enable()


def _memory() -> str | None:
    """Return the folder of files that lie in memory; None: there is none."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 -- a folder is made in it


def _reader(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True, isolation_level=None)


@cache
def _migrated() -> Path:
    """Return a migrated database, to be copied; it lives as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="tidegate-lives-", dir=_memory())
    file = Path(folder.name) / "empty.db"
    migrate_executions(f"sqlite:///{file}")
    _KEPT.append(folder)
    return file


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


class _Run:
    def __init__(
        self, seed: int, url: str, rows: Rows, on_line: Callable[[str], None] | None
    ) -> None:
        self._chance = random.Random(f"{seed}/run")
        self.world = world = World(seed, url, on_line)
        world.cruel = self._chance.choice([0.005, 0.01, 0.02, 0.04])
        documents = Documents(random.Random(f"{seed}/flows"))
        self._outside = Outside(
            world,
            self._leaders,
            documents,
            random.Random(f"{seed}/outside"),
            self._chance.randint(4, 10),
        )
        self._judge = SqlJudge(world, rows, self._outside.wishes)
        self._outside.known = lambda: list(self._judge.history.heads.values())
        self._outside.bury = self._bury
        world.wrote = self._wrote
        world.looked = self._looked
        self._violations: list[str] = []
        self._processes = [Process(_OUTSIDE), Process("leader-1"), Process("leader-2")]

    def _leaders(self) -> list[LeaderLife]:
        now = self.world.now
        return [
            one.life
            for one in self._processes
            if one.life is not None and (one.away_until is None or one.away_until <= now)
        ]

    def _wrote(self, life: str, term: int) -> None:
        if not self._violations:
            self._violations += self._judge.see(life, term)

    def _looked(self, life: str) -> None:
        if not self._violations:
            self._violations += self._judge.others(life)

    def outcome(self) -> ExecutionsOutcome:
        try:
            self._live()
        except Exception:  # noqa: BLE001 -- whatever it is, it belongs to this seed
            self._violations.append(f"the world broke: {traceback.format_exc()}")
        for one in self._processes:
            if one.life is not None:
                one.life.close()
        judge, world = self._judge, self.world
        return ExecutionsOutcome(
            world.seed,
            tuple(self._violations),
            world.faults,
            world.crash_points,
            judge.starts.births.total(),
            judge.steps + sum(len(runs) for runs in judge.history.runs.values()),
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
        began = moved = world.turns
        versions: Sequence[int] = ()
        while world.turns < min(began + QUIET_MAX, moved + STILL_MAX) and not self._violations:
            self._turn()
            if world.turns % 20 == 0:
                self._outside.help()
                if not next(self._judge.rest(), ""):
                    break
                newest = [head.version for head in self._judge.history.heads.values()]
                if newest != versions:
                    moved, versions = world.turns, newest
        if not self._violations:
            self._violations += self._judge.at_end(self._schedule())

    def _schedule(self) -> Mapping[str, object]:
        triggers = cast("list[Mapping[str, object]]", self._outside.newest["three"]["triggers"])
        return triggers[0]

    def _turn(self) -> None:
        """Let one process take one step, and time pass."""
        world, chance = self.world, self._chance
        world.turns += 1
        world.pass_time(chance.choice(_SMALL_S) if world.trouble else _QUIET_S)
        one = chance.choice(self._processes)
        if one.away_until is not None and one.away_until > world.now:
            return
        one.away_until = None
        if one.running is None:
            if one.name == _OUTSIDE:
                one.running = self._outside.steps()
            else:
                one.life = LeaderLife(world, one.name)
                one.running = one.life.steps()
        world.trace(f"{one.name}: {one.at}")
        try:
            one.at = next(one.running)
        except Died as error:
            self._bury(error.life)

    def _bury(self, life: str) -> None:
        (one,) = [one for one in self._processes if one.life and one.life.life == life]
        self._crash(one)

    def _fault(self) -> None:
        """Perhaps let something die, freeze, go away, or have a wrong clock."""
        world, chance = self.world, self._chance
        dice = chance.random() / world.cruel
        one = chance.choice(self._processes[1:])
        if dice < 1:
            world.faults["a leader dies"] += 1
            world.crash_points[one.at] += 1
            self._crash(one)
        elif dice < 2:
            one.away_until = world.now + timedelta(seconds=chance.uniform(1, 40))
            world.faults["a leader freezes"] += 1
        elif dice < 2.3 and one.life is not None:
            one.life.clock.behind = timedelta(seconds=chance.uniform(1, 20))
            world.faults["a clock is set back"] += 1
        elif dice < 2.5 and one.life is not None:
            one.life.clock.behind = timedelta(0)
        elif dice < 2.7:
            world.faults["time leaps"] += 1
            world.pass_time(chance.uniform(10, 200))
        elif dice < 2.8:
            world.faults["everything dies at once"] += 1
            for each in self._processes[1:]:
                self._crash(each)

    def _crash(self, one: Process) -> None:
        self.world.trace(f"{one.name} dies before: {one.at}")
        if one.life is not None:
            one.life.close()
        one.life, one.running, one.at = None, None, "poll"
        one.away_until = self.world.now + timedelta(seconds=self._chance.uniform(0.1, 20))
