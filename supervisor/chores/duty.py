"""Duties of the leader and handlers of its event queues: what each row of `table.py` says.

Both are made from one `Wiring`: a duty or a handler takes from it what it needs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.metrics import OverlordMeters
from supervisor.control.observe import Sources
from supervisor.control.state_recorder import StateRecorder
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.queue.events import QueueConfig
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.handling import Handler
from supervisor.eventqueue.queues import EventQueues
from supervisor.ports.exports import Copies, TableFormat
from supervisor.ports.store import ActingStore, Clock
from supervisor.ports.warehouse import Warehouse
from supervisor.settings.settings import Settings


@dataclass(frozen=True)
class Wiring:
    """The parts of one overlord, once each; duties, handlers and services are made from them."""

    store: ActingStore
    clock: Clock
    leadership: Leadership
    registry: WorkerRegistry
    sources: Sources
    loop: Loop
    watching: StateRecorder
    changed: Wakeups
    endings: TaskEnder
    meters: OverlordMeters
    queues: EventQueues
    warehouse: Warehouse
    formats: Mapping[ExportFormat, TableFormat]
    """Those that this installation can write."""
    copies: Copies
    segment_grace: timedelta
    """From taking a segment out of its table to the deletion of its file."""
    gc_delay: timedelta
    """Before files and rows that are left over are looked at, and between two looks."""
    new_token: Callable[[], str]
    reach: Callable[[str], None] = lambda _: None
    """Called with each place passed; a test may end the process there (failpoints)."""

    @property
    def term(self) -> Callable[[], int]:
        """Returns the term, or raises LeaseLost where this overlord does not lead."""
        return self.leadership.term


class Chore(Protocol):
    """What a duty does each time; safe to crash at any line and to repeat."""

    def run_once(self) -> object:
        """Do what is due, within bounds, each write under the term.

        Raises:
            LeaseLost, Unavailable: the next run goes on.
        """
        ...


@dataclass(frozen=True)
class Duty:
    """A row of `CHORES`: something that the leader does now and then."""

    name: str
    build: Callable[[Wiring], Chore]
    period: Callable[[Settings], timedelta]
    at_once: bool = False
    """Also as soon as a term begins."""


@dataclass(frozen=True)
class QueueHandler:
    """A row of `HANDLERS`: who handles the events of a queue, and how the queue is run."""

    queue: str
    build: Callable[[Wiring], Handler | None]
    """None: this installation cannot handle them; they wait."""
    config: Callable[[Wiring], QueueConfig]
    container: str | None = None
    """None: the queue of this name in whatever container has one."""
