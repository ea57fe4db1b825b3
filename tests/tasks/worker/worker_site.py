"""A worker of a test: the product's, in a thread, with memory in place of what is outside."""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from tasks.contract.connection_policy import ConnectionPolicy
from tasks.machine.pacing import Limits
from tasks.ports import Sampler
from tasks.worker.incarnations import begin_life
from tasks.worker.options import WorkerOptions
from tasks.worker.worker import Worker, WorkerPorts
from tests.tasks.memory import DEADLINE_S, MemoryEngine, MemoryLog, MemoryOverlord, at
from tests.tasks.worker.test_runner import QUICK


@dataclass
class Site:
    """A machine on which a worker runs, ends and starts again."""

    folder: Path
    engine: MemoryEngine = field(default_factory=MemoryEngine)
    log: MemoryLog = field(default_factory=lambda: MemoryLog(at(0), at(5)))
    overlord: MemoryOverlord = field(default_factory=MemoryOverlord)
    sampler: Sampler | None = None
    alive: bool = True
    connections: ConnectionPolicy = field(default_factory=ConnectionPolicy)
    code: int | None = None
    limits: Limits = QUICK
    slots: int = 4

    def start(self) -> Worker:
        options = WorkerOptions(
            "w-1",
            self.folder,
            "warehouse",
            ("http://o",),
            port=0,
            slots=self.slots,
            limits=self.limits,
            connections=self.connections,
            long_poll=timedelta(milliseconds=200),
            report_period_min=timedelta(milliseconds=20),
            stop_grace=timedelta(milliseconds=100),
            stop_timeout=timedelta(seconds=3),
            alive_period=timedelta(milliseconds=50),
        )
        outside = self.outside()
        self.worker = Worker(options, outside, begin_life(self.folder, unix_ms=1))
        self.code = None
        self.thread = threading.Thread(target=self._run, name="worker of a test")
        self.thread.start()
        return self.worker

    def outside(self) -> WorkerPorts:
        return WorkerPorts(
            self.engine,
            self.log,
            self.overlord,
            self.sampler,
            engine_alive=lambda: self.alive,
            engine_end=lambda: "" if self.alive else "with code 137",
        )

    def end(self) -> int | None:
        self.worker.stop()
        self.thread.join(DEADLINE_S)
        return self.code

    def journals(self) -> set[str]:
        return {path.stem for path in (self.folder / "journal").glob("*.jsonl")}

    def _run(self) -> None:
        self.code = self.worker.run()
