"""The life of a run's tables: what is exported, what is wrong, and whether all of it is settled."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulation.faults.faults import TARGET_RATE
from tests.simulation.faults.lives import TARGETS
from tests.simulation.processes.overlord import OverlordProcess, Surroundings
from tests.simulation.processes.tables.lakes import ExportKey, Lakes, LakeVersion
from tests.simulation.processes.tables.mount import WarehouseTroubles
from tests.simulation.processes.tables.overlord import Shore, TableOverlord
from tests.simulation.processes.tables.worker import TableWorker
from tests.simulation.processes.worker import Neighbourhood, WorkerProcess
from tests.simulation.world.clocks import FASTEST, SLOWEST

if TYPE_CHECKING:
    from tests.simulation.world.world import World

AFTERNOON_S = 30.0
"""So long the troubles of tables go on when all other faults have ended: there is more to meet."""
_WAITS_TTLS = 2.0
_SOME_S = 0.1
"""A grace time that clocks of any rate keep."""
_OPEN = (":inside", "in-transaction")
"""Parts of the names of steps inside a transaction: nobody waits there."""
_UNSETTLED = """
    SELECT 1 FROM compactions WHERE ended_at IS NULL
    UNION SELECT 1 FROM segments WHERE unused_at IS NOT NULL AND deleted_at IS NULL
    UNION SELECT 1 FROM event_queues q JOIN event_positions p ON p.queue_id = q.id
    WHERE q.next_seq - 1 > p.processed_seq
    AND (q.name IN ('segments', 'segment-files') OR q.name LIKE 'export-%')
"""


class TableLife:
    """What a run has of the life of tables; nothing, in most runs."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.lives = world.swarm.lives
        self.lakes = Lakes(lambda: world.kernel.now)
        self.troubles = WarehouseTroubles(lambda: world.kernel.now)
        self.exports = list(self.lives.exports)
        """The formats that the spec is to name."""
        self._chance = world.kernel.random("steps of tables")
        self._quiet_from: float | None = None
        self.afternoon: Callable[[], None] = lambda: None
        """Called when all other faults have ended."""
        self._shore = Shore(
            self.lives,
            self.lakes,
            self.troubles,
            is_quiet=lambda: self.is_quiet,
            exported=self._exported,
            deleted=self._deleted,
        )

    @property
    def runs(self) -> bool:
        """Whether there is any life."""
        return self.lives.runs

    @property
    def is_quiet(self) -> bool:
        """Whether the troubles of tables have ended as well."""
        return not self.runs or (
            self._quiet_from is not None and self.world.kernel.now >= self._quiet_from
        )

    @property
    def grace_s(self) -> float:
        """So long a file stays at least after it was taken out of its table; 0: clocks differ.

        One overlord takes it out and another one deletes it.  Their clocks were right when each
        began, at the earliest at the beginning of the run, and have moved apart since.
        """
        skewed = self.lives.skew_s is None or self.lives.skew_s > 0
        apart_s = (FASTEST - SLOWEST) * self.world.kernel.now
        shortest_s = max(_SOME_S, self.lives.grace_s / FASTEST - apart_s)
        return 0.0 if skewed or not self.runs else shortest_s

    def exported(self) -> Mapping[ExportKey, list[LakeVersion]]:
        """Return every exported table with its versions."""
        return self.lakes.versions

    # -- processes -----------------------------------------------------------------------------

    def overlord(self, name: str, around: Surroundings) -> OverlordProcess:
        """Make an overlord of the run."""
        if not self.runs:
            return OverlordProcess(name, around)
        skew_s = around.skew_s if self.lives.skew_s is None else self.lives.skew_s
        with_steps = replace(around, reached=self._reached, skew_s=skew_s, cleaned="")
        return TableOverlord(name, with_steps, self._shore)

    def worker(self, name: str, around: Neighbourhood) -> WorkerProcess:
        """Make a worker of the run."""
        return TableWorker(name, around, self.lives) if self.runs else WorkerProcess(name, around)

    @property
    def workers(self) -> list[TableWorker]:
        """The workers of a run whose tables live."""
        return [worker for worker in self.world.workers if isinstance(worker, TableWorker)]

    def _reached(self, process: OverlordProcess, point: str) -> None:
        """Let the life of tables be stopped at its own steps more often than elsewhere."""
        world = self.world
        mine = not self.is_quiet and point.endswith(TARGETS)
        if mine and point.endswith(self.lives.targets) and self._chance.random() < TARGET_RATE:
            world.crash(process, point)
        world.overlord_reached(process, point)
        may_wait = mine and world.kernel.may_hold and not any(p in point for p in _OPEN)
        if may_wait and self._chance.random() < self.lives.waits:
            self._hold(process, point)

    def _hold(self, process: OverlordProcess, point: str) -> None:
        world, frozen = self.world, self._chance.random() < 0.5
        seconds = self._chance.uniform(0.1, _WAITS_TTLS * world.times.lease_ttl)
        world.fault(f"{'frozen' if frozen else 'slow'} at {point}")
        world.kernel.hold(process, seconds, frozen=frozen)

    # -- what is told --------------------------------------------------------------------------

    def _exported(self, export: ExportKey, version: LakeVersion) -> None:
        table, name = export
        self.world.kernel.trace("lake", table, name, version.sequence, len(version.files))
        self.world.happened("exported", table=table, format=name)

    def _deleted(self, path: str, queue: str) -> None:
        self.world.kernel.trace("deleted", path, "by", queue)
        self.world.happened("file deleted", path=path, queue=queue, at=self.world.kernel.now)

    # -- the end -------------------------------------------------------------------------------

    def calm_down(self) -> None:
        """Let its troubles end, after the afternoon."""
        self._quiet_from = self.world.kernel.now + (AFTERNOON_S if self.runs else 0.0)
        self.world.kernel.after(AFTERNOON_S, self._end_troubles)
        self.afternoon()

    def _end_troubles(self) -> None:
        self.lakes.away_until = self.troubles.away_until = -1.0
        self.troubles.failing = 0
        for worker in self.workers:
            worker.stuck_compactions = worker.failing_compactions = 0

    def is_settled(self) -> bool:
        """Tell whether no compaction runs, every file had its end, and exports are equal."""
        if not self.runs:
            return True
        if not self.is_quiet:
            return False
        database = self.world.store_connection
        if database.execute(_UNSETTLED).fetchone() is not None:
            return False
        return not any(True for _ in self._behind())

    def _behind(self) -> Iterator[ExportKey]:
        database = self.world.store_connection
        enabled = "SELECT data_source, format FROM exports WHERE enabled"
        used = "SELECT path FROM segments WHERE data_source = ? AND unused_at IS NULL"
        for table, name in database.execute(enabled).fetchall():
            paths = {row[0].partition("/")[2] for row in database.execute(used, (table,))}
            newest = self.lakes.newest((table, name))
            if paths != (set() if newest is None else set(newest.files)):
                yield table, name
