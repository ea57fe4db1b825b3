"""A worker that carries out compactions as well."""

from tasks.contract.messages import CompactedFile, DesiredCompaction
from tests.simulation.faults.lives import Lives
from tests.simulation.processes.tables.compactor import STUCK_S, SimCompactor
from tests.simulation.processes.tables.overlord import TableOverlord
from tests.simulation.processes.worker import Neighbourhood, WorkerProcess
from tests.simulation.world.network import Reply

_OFFER_S = 12.0


class TableWorker(WorkerProcess):
    """Runs tasks, and compactions beside them."""

    compactor: SimCompactor

    def __init__(self, name: str, around: Neighbourhood, lives: Lives) -> None:
        super().__init__(name, around)
        self.engine.in_chunks = True
        self._lives = lives
        self._chance = around.kernel.random(f"compactions of {name}")
        self.stuck_compactions = self.failing_compactions = 0
        """So many of the next ones never end by themselves, or fail."""

    def start(self) -> None:
        """Begin an incarnation without any compaction."""
        super().start()
        self.compactor = SimCompactor(self, self.world)
        self._sync._compactor = self.compactor

    @property
    def compacts(self) -> bool:
        """Whether a compaction is under way."""
        return self.alive and self.compactor._current is not None

    def compaction_s(self) -> float:
        """Return how long the next compaction takes."""
        if self.stuck_compactions:
            self.stuck_compactions -= 1
            return STUCK_S
        return self._lives.compact_s * self._chance.uniform(0.3, 2.0)

    def offer(self, order: DesiredCompaction, file: CompactedFile, heard: Reply) -> None:
        """Offer a compacted file to the leader."""

        def make(target: object, reply: Reply) -> None:
            assert isinstance(target, TableOverlord)
            target.swap(order.compaction_id, order.token, file, reply)

        self._caller.call(make, heard, _OFFER_S)

    def news(self) -> object:
        """Return what of the reports an overlord waits for, in the form of `Sync`."""
        tasks = super().news()
        assert isinstance(tasks, tuple)
        failed = ((r.compaction_id, r.failure) for r in self.compactor.reports())
        return (*tasks, *failed)
