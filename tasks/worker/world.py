"""Shared dependencies of a worker's tasks: engine, Kafka, overlord, hooks and start of threads."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Thread

from tasks.ports import Engine, OverlordClient, Stream
from tasks.worker.batches.notes import BatchNotes
from tasks.worker.batches.turns import BatchTurns
from tasks.worker.finishing_slots import FinishingSlots
from tasks.worker.metrics import WorkerMeters

StartThread = Callable[[str, Callable[[], None]], Thread]
"""Creates and starts a thread of this name; Spark needs threads of its own class."""

Progress = Callable[[str], Hashable]
"""Progress of the running job of a task; a value other than the last means that the job moved."""


def start_thread(name: str, run: Callable[[], None]) -> Thread:
    """Start a plain thread that does not keep the process alive."""
    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True)
class World:
    """The dependencies that all tasks of a worker share."""

    engine: Engine
    stream: Stream
    overlord: OverlordClient
    gate: FinishingSlots
    changed: Callable[[], None]
    """Called after every step of any task; must return at once."""
    fenced: Callable[[], None]
    """Called when an overlord answers that a newer incarnation exists."""
    stuck: Callable[[str], None] = lambda _: None
    """Called with the reason when the engine does not end a cancelled job."""
    cancel: Callable[[str], None] | None = None
    """Requests the end of a task's job and returns at once; None: the engine is called directly."""
    engine_alive: Callable[[], bool] = lambda: True
    """Whether the engine's process lives; if not, its errors say nothing about a task."""
    engine_doubt_s: float = 0.5
    """How long after a failed job the engine is watched before the task is blamed."""
    overlord_answers: Callable[[], bool] = lambda: True
    """Whether an overlord answered the last sync; if not, the overlord is away as a whole."""
    monotonic: Callable[[], float] = time.monotonic
    start_thread: StartThread = start_thread
    failpoint: Callable[[str], None] = lambda _: None
    """Called at each failpoint with its name; a test may end the process there."""
    meters: WorkerMeters = field(default_factory=WorkerMeters)
    notes: BatchNotes = field(default_factory=BatchNotes)
    turns: BatchTurns = field(default_factory=BatchTurns)
