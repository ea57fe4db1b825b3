"""A compactor whose engine and overlord are in memory, and in a test's hands."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tasks.contract.messages import CompactionReport, FailureCode
from tasks.worker.compaction import Compactor
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.reporting.compaction_notes import CompactionNotes
from tasks.worker.runner import World
from tests.tasks.memory import MemoryEngine, MemoryLog, MemoryOverlord, at
from tests.tasks.orders import compaction
from tests.tasks.worker.test_runner import QUICK
from tests.waiting import wait_until


@dataclass
class Yard:
    """A compactor whose engine and overlord the test holds in its hands."""

    engine: MemoryEngine = field(default_factory=MemoryEngine)
    overlord: MemoryOverlord = field(default_factory=MemoryOverlord)
    alive: bool = True
    news: threading.Event = field(default_factory=threading.Event)
    fenced: threading.Event = field(default_factory=threading.Event)
    passed: list[str] = field(default_factory=list)
    notes: CompactionNotes | None = None
    at_place: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        world = World(
            self.engine,
            MemoryLog(at(0), at(0)),
            self.overlord,
            FinishingSlots(1),
            changed=self.news.set,
            fenced=self.fenced.set,
            engine_alive=lambda: self.alive,
            engine_doubt_s=0.01,
            failpoint=self._reach,
        )
        self.compactor = Compactor(world, QUICK, 7, self.notes)

    def _reach(self, place: str) -> None:
        self.passed.append(place)
        self.at_place(place)

    def list_compactions(self, *compaction_ids: str) -> None:
        self.compactor.apply([compaction(compaction_id) for compaction_id in compaction_ids])

    def reported(self) -> dict[str, FailureCode | None]:
        return {report.compaction_id: report.failure for report in self.compactor.reports()}

    def failed(self, compaction_id: str) -> CompactionReport:
        """Wait until a compaction is reported as failed."""
        wait_until(lambda: self.reported().get(compaction_id) is not None)
        [report] = [r for r in self.compactor.reports() if r.compaction_id == compaction_id]
        return report

    def offered_ids(self) -> list[str]:
        return [offered.compaction_id for _, offered in self.overlord.compacted]

    def wait_offered(self, times: int = 1) -> None:
        self.overlord.wait_for(lambda o: len(o.compacted) >= times)
