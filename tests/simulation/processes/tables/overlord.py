"""An overlord whose tables live: the product's duties and handlers of tables, wired as it does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import cast

from supervisor.chores import exports, forget, queue_poll, retention, sweep
from supervisor.chores.compaction import compacting
from supervisor.chores.compaction.commit import Swapping
from supervisor.chores.compaction.compacting import Compacting, compacting_of
from supervisor.chores.duty import Chore, Duty, Wiring
from supervisor.chores.retention import RetentionKeeper, retention_of
from supervisor.chores.segments import SEGMENT_FILES, SegmentLife, segments_of
from supervisor.chores.table import HANDLERS
from supervisor.control.end_task import TaskEnder
from supervisor.control.metrics import OverlordMeters
from supervisor.control.state_recorder import StateRecorder
from supervisor.core.queue.events import QueuedEvent, QueueName
from supervisor.core.values.errors import CompactionNotFound, SupervisorError, UnusableFiles
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.handling import Context, Handled, Handler
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.queues import EventQueues
from supervisor.ports.store import OverlordStore, Transaction
from tasks.contract.messages import CompactedFile, SyncRequest, SyncResponse
from tests.simulation.faults.lives import Lives
from tests.simulation.processes.cleaning import DELAY
from tests.simulation.processes.overlord import OverlordProcess, Surroundings
from tests.simulation.processes.tables.dispatching import SimDispatcher
from tests.simulation.processes.tables.lakes import (
    ExportKey,
    LakeAccess,
    Lakes,
    LakeVersion,
    NoCopyNeeded,
    SimFormat,
)
from tests.simulation.processes.tables.mount import Mount, WarehouseTroubles
from tests.simulation.world.network import Reply

PERIODS: tuple[tuple[Duty, float], ...] = (
    (queue_poll.DUTY, 6.0),
    (exports.DUTY, 4.0),
    (sweep.DUTY, 12.0),
    (retention.DUTY, 5.0),
    (compacting.DUTY, 4.0),
)
"""The duties of tables, and their mean periods in seconds."""


@dataclass(frozen=True)
class OfferRefused:
    """The answer to an offered file that is refused for good."""

    why: str


@dataclass(frozen=True)
class Shore:
    """What all overlords share of the life of tables."""

    lives: Lives
    lakes: Lakes
    troubles: WarehouseTroubles
    is_quiet: Callable[[], bool]
    exported: Callable[[ExportKey, LakeVersion], None]
    deleted: Callable[[str, str], None]
    """Told the path of a file, and the queue whose handler deleted it."""


class TableOverlord(OverlordProcess):
    """Leads the life of tables as well."""

    segments: SegmentLife
    retention: RetentionKeeper
    compacting: Compacting
    swapping: Swapping
    queues: EventQueues

    def __init__(self, name: str, around: Surroundings, shore: Shore) -> None:
        super().__init__(name, around)
        self._shore = shore
        self._chance = around.kernel.random(f"tables of {name}")
        self._handling: list[str] = []
        """The queues whose handlers are under way, the last one on top."""
        self._term = 0

    def start(self) -> None:
        """Be born, with the parts that the life of tables needs."""
        super().start()
        self._handling, self._term = [], 0
        self.queues = EventQueues(self.store, self.clock, self._led, Meters())
        self.queues._dispatcher = SimDispatcher(self.clock, self.later, self._running)
        wiring = self._wiring()
        for row in HANDLERS:
            handler = None if row is forget.HANDLER else row.build(wiring)
            if handler is not None:
                watched = self._watched(row.queue, handler)
                self.queues.for_every_container(row.queue, watched, row.config(wiring))
        self.segments, self.retention = segments_of(wiring), retention_of(wiring)
        self.compacting = compacting_of(wiring)
        common = (wiring.store, wiring.clock, wiring.term, wiring.endings)
        assign = self.compacting.assign
        self.swapping = Swapping(*common, self.segments, assign, self._reach)
        self._listen()
        self._chores = [(duty, duty.build(wiring)) for duty, _ in PERIODS]
        for (duty, chore), (_, period_s) in zip(self._chores, PERIODS, strict=True):
            self._again(duty, chore, period_s)
        self.leadership._on_lead = self._begin_term

    def _wiring(self) -> Wiring:
        shore = self._shore
        access = LakeAccess(self._reach, self._lake_fails, lambda: self._term, shore.exported)
        return Wiring(
            store=cast("OverlordStore", self.store),
            clock=self.clock,
            leadership=self.leadership,
            registry=self.registry,
            sources=self.sources,
            loop=self.loop,
            watching=cast("StateRecorder", None),
            changed=self.changed,
            endings=TaskEnder(DELAY, self.registry.report),
            meters=cast("OverlordMeters", None),
            queues=self.queues,
            warehouse=Mount(self.around.warehouse, self._owner, shore.troubles, self._deleted),
            formats={f: SimFormat(f.value, shore.lakes, access) for f in ExportFormat},
            copies=NoCopyNeeded(),
            segment_grace=timedelta(seconds=shore.lives.grace_s),
            task_retention=timedelta(days=7),
            gc_delay=DELAY.delay,
            new_token=self._new_token,
            reach=self._reach,
        )

    def _owner(self) -> str:
        with self.store.reading() as tx:
            return tx.installation.name()

    def _led(self) -> int:
        self._term = self.leadership.term()
        return self._term

    def _lake_fails(self) -> bool:
        return not self._shore.is_quiet() and self._chance.random() < self._shore.lives.lake_fails

    # -- queues --------------------------------------------------------------------------------

    @contextmanager
    def _running(self, queue: QueueName) -> Iterator[None]:
        handling = self._handling  # of this life: a crash unwinds when the next one has begun
        handling.append(queue.name)
        try:
            with self.store.at(queue.name):
                yield
        finally:
            handling.remove(queue.name)

    def _deleted(self, path: str) -> None:
        queue = self._handling[-1] if self._handling else ""
        self._shore.deleted(path, queue)
        if queue == SEGMENT_FILES:
            self._reach("file:deleted")

    def _watched(self, queue: str, handler: Handler) -> Handler:
        """Return a handler whose bugs are noted: a queue only tries again."""

        def handle(events: Sequence[QueuedEvent], context: Context) -> Handled:
            with self._bugs_noted(f"the handler of {queue}"):
                handled = handler(events, context)

            def write(tx: Transaction) -> None:
                with self._bugs_noted(f"what the handler of {queue} writes"):
                    handled.write(tx)

            return replace(handled, write=write)

        return handle

    @contextmanager
    def _bugs_noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except SupervisorError:
            raise
        except Exception as error:
            self.around.bug(f"{what} raised {error!r}")
            raise

    # -- duties --------------------------------------------------------------------------------

    def _again(self, duty: Duty, chore: Chore, every_s: float) -> None:
        wait_s = self._chance.uniform(0.5, 1.5) * every_s
        self.later(wait_s, lambda: self._again(duty, chore, every_s))
        self._while_leading(duty, chore)

    def _while_leading(self, duty: Duty, chore: Chore) -> None:
        if not self.leadership.leads():
            return
        with suppress(SupervisorError), self.store.at(duty.name), self._bugs_noted(duty.name):
            chore.run_once()

    def _begin_term(self) -> None:
        self.service.start_term()
        self.queues.poll()
        for duty, chore in self._chores:
            if duty.at_once:
                self.later(0.01, partial(self._while_leading, duty, chore))

    # -- workers -------------------------------------------------------------------------------

    def _listen(self) -> None:
        sync = self.service.sync

        def synced(request: SyncRequest) -> SyncResponse:
            self.swapping.heard(request)
            return sync(request)

        self.service.sync = synced  # type: ignore[method-assign]

    def swap(self, compaction_id: str, token: str, file: CompactedFile, reply: Reply) -> None:
        """Judge an offered file of a compaction."""
        try:
            with self.store.at("swap"):
                answer = self.swapping.publish(compaction_id, token, file)
        except (UnusableFiles, CompactionNotFound) as error:
            self.around.bug(f"{compaction_id} is refused: {error}")
            reply(OfferRefused(str(error)))
            return
        except SupervisorError as error:
            reply(error)
            return
        except Exception as error:  # noqa: BLE001 -- as the API does: a 500
            self.around.bug(f"swap raised {error!r}")
            reply(error)
            return
        self.around.kernel.trace("swap", compaction_id, answer.outcome, answer.reason)
        self._reach("swap:answer")
        reply(answer)
