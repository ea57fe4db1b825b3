"""Steps that run beside something else: a process that keeps executions in flight until it ends.

`python -m bench.flows.load URL DATABASE` is that process.  It is frozen and goes on by signals, so
that a figure is measured with it and without it, by turns, under the same overlord and executor.
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx

from bench.control_run import measure_passes
from bench.flows.plant import FlowPlant, flow_plant, keep_in_flight, step_flow
from bench.live_run import Live, LiveSizes, measure_live
from bench.result import Spread, spread
from bench.stores.publish_run import measure_publishes
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.dev.processes import Child, ChildSpec
from tests.waiting import wait_until

__all__ = ["BesideRun", "BesideSizes", "measure_beside", "measure_live_beside"]

_FLOW = "beside"
_ITEMS = 50
_SETTLE_S = 60.0


@dataclass(frozen=True)
class BesideSizes:
    """How much is measured in each turn."""

    turns: int = 5
    publishes: int = 200
    supervisors: int = 100


@dataclass(frozen=True)
class BesideRun:
    """Milliseconds with steps and without them, of the same turns; and the steps."""

    publishes: tuple[Spread, Spread]
    passes: tuple[Spread, Spread]
    steps_per_s: float


def measure_beside(folder: Path, bootstrap: str, sizes: BesideSizes) -> BesideRun:
    """Measure publishes and passes by turns, while steps run and while none do."""
    with flow_plant(folder, "sqlite", bootstrap) as plant, _load(folder, plant) as load:
        quiet, loud = _Times(folder / "quiet", sizes), _Times(folder / "loud", sizes)
        seconds = steps = 0.0
        for _ in range(sizes.turns):
            load.rest()
            quiet.turn()
            load.go_on()
            began, before = time.perf_counter(), plant.ended(_FLOW)
            loud.turn()
            seconds += time.perf_counter() - began
            steps += (plant.ended(_FLOW) - before) * _ITEMS
        return BesideRun(
            (spread(loud.publishes), spread(quiet.publishes)),
            (spread(loud.passes), spread(quiet.passes)),
            steps / seconds,
        )


def measure_live_beside(folder: Path, bootstrap: str, sizes: LiveSizes) -> Live:
    """Run the whole system as processes, as for `handoff-gap`, while steps run beside it."""
    folder.mkdir(parents=True)
    with flow_plant(folder / "flows", "sqlite", bootstrap) as plant, _load(folder, plant) as load:
        load.go_on()
        return measure_live(bootstrap, folder / "live", sizes)


class _Times:
    """What the turns of one kind took, in milliseconds."""

    def __init__(self, folder: Path, sizes: BesideSizes) -> None:
        folder.mkdir()
        self._folder = folder
        self._sizes = sizes
        self._number = 0
        self.publishes: list[float] = []
        self.passes: list[float] = []

    def turn(self) -> None:
        """Publish into a new database, then look at supervisors at rest in another one."""
        self._number += 1
        url = f"sqlite:///{self._folder}/publish-{self._number}.db"
        self.publishes += measure_publishes(url, self._sizes.publishes).values
        folder = self._folder / f"passes-{self._number}"
        self.passes += measure_passes(folder, self._sizes.supervisors).pass_ms.values


@dataclass
class _Load:
    """The process of the load."""

    child: Child
    plant: FlowPlant

    def rest(self) -> None:
        """Freeze it, and wait until nothing is in flight."""
        self.child.signal(signal.SIGSTOP)
        wait_until(lambda: self.plant.live(_FLOW) == 0, within_s=_SETTLE_S)

    def go_on(self) -> None:
        """Let it run, and wait until executions end."""
        self.child.signal(signal.SIGCONT)
        before = self.plant.ended(_FLOW)
        wait_until(lambda: self.plant.ended(_FLOW) > before, within_s=_SETTLE_S)


@contextmanager
def _load(folder: Path, plant: FlowPlant) -> Iterator[_Load]:
    plant.apply(step_flow(_FLOW, _ITEMS))
    argv = (sys.executable, "-m", "bench.flows.load", plant.url, plant.database)
    grace = timedelta(seconds=5)
    child = Child(ChildSpec(name="load", argv=argv, folder=folder / "logs", grace=grace))
    child.start()
    try:
        yield _Load(child, plant)
    finally:
        child.signal(signal.SIGCONT)
        child.stop()


def main(arguments: Sequence[str]) -> None:
    """Keep executions in flight for ever."""
    url, database = arguments
    with (
        closing(ExecutionDatabase(database)) as tables,
        httpx.Client(base_url=url, timeout=60.0) as http,
    ):
        for _ in keep_in_flight(FlowPlant(url, http, tables, database), _FLOW):
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
