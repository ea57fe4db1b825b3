"""What every task of a worker uses: its engine, Kafka, the overlord, and how threads are made."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Thread

from tasks.ports import Engine, Overlord, Stream
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.metrics import WorkerMeters

StartThread = Callable[[str, Callable[[], None]], Thread]
"""Makes and starts a thread of this name; Spark wants threads of its own class."""

Progress = Callable[[str], Hashable]
"""How far the running job of a task is; another answer than the last means that it moved."""


def start_thread(name: str, run: Callable[[], None]) -> Thread:
    """Start a plain thread that does not keep the process alive."""
    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True)
class World:
    """What every task of a worker uses."""

    engine: Engine
    stream: Stream
    overlord: Overlord
    gate: FinishingSlots
    changed: Callable[[], None]
    """Called after every step of any task; must return at once."""
    fenced: Callable[[], None]
    """Called when an overlord says that a newer incarnation exists."""
    stuck: Callable[[str], None] = lambda _: None
    """Called with the reason when the engine does not end a cancelled job."""
    cancel: Callable[[str], None] | None = None
    """Asks for the end of a task's job and returns at once; None: the engine is called itself."""
    engine_alive: Callable[[], bool] = lambda: True
    """Whether the engine's process lives; if not, what it answers says nothing of a task."""
    engine_doubt_s: float = 0.5
    """How long after a failed job the engine is watched before the task is blamed."""
    overlord_answers: Callable[[], bool] = lambda: True
    """Whether an overlord answered the last sync: if not, it is away as a whole."""
    monotonic: Callable[[], float] = time.monotonic
    start_thread: StartThread = start_thread
    failpoint: Callable[[str], None] = lambda _: None
    """Told of each place passed; a test may end the process there (failpoints)."""
    meters: WorkerMeters = field(default_factory=WorkerMeters)
