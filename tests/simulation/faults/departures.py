"""Processes that are asked to end: each does what it does at SIGTERM, and is started again."""

from datetime import timedelta
from functools import partial

from tests.simulation.processes.leaving import leave_in_order
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.worker import WorkerProcess
from tests.simulation.world.world import World

_LINGERS_S = 1.5
"""So long an overlord still serves requests that it had begun when its lease is released."""


class Departures:
    """Asks one process after the other, until the faults are over."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.random = world.kernel.random("departures")

    def begin(self) -> None:
        """Schedule the first one, if this run has any."""
        every_s = self.world.beside.leaves_every_s
        if every_s is not None and not self.world.quiet:
            self.world.kernel.after(self.random.expovariate(1 / every_s), self._next)

    def _next(self) -> None:
        self.begin()
        process = self.random.choice(self._processes())
        if process.alive and not self.world.quiet:
            self.world.kernel.trace(process.name, "is asked to end")
            process.around.kernel.after(0.0, partial(self._ask, process), process)

    def _processes(self) -> list[OverlordProcess | WorkerProcess]:
        return [*self.world.overlords, *self.world.workers]

    def _ask(self, process: OverlordProcess | WorkerProcess) -> None:
        life, world = process.life, self.world
        if isinstance(process, WorkerProcess):
            grace = timedelta(seconds=world.beside.stop_grace_s)
            process.leave(grace, partial(self._gone, process, life))
            return
        holder = f"{process.name}#{life}"
        world.happened("leaves", overlord=process.name, holder=holder)

        def left(answered: bool) -> None:
            world.happened("left", overlord=process.name, holder=holder, answered=answered)
            lingers_s = self.random.uniform(0.0, _LINGERS_S)
            process.later(lingers_s, partial(self._gone, process, life))

        leave_in_order(process, left)

    def _gone(self, process: OverlordProcess | WorkerProcess, life: int) -> None:
        if process.alive and process.life == life:
            self.world.kernel.trace(process.name, "has left")
            self.world.kill(process)
