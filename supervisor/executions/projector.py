"""The projector of a process: it lets the tables repeat what the topics say of its partitions.

    begin ─► read on from the stored position ─► store with the new position, in one transaction
               ▲                                          │ away, or another projector was faster
               └──────────────────────────────────────────┘

Nothing is known here that is not in the topics or the tables, so it may die at any step.  Two
projectors of one partition do no harm: only who knows the position can move it.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog

from supervisor.core.executions.records import NewerRecord
from supervisor.executions.projected import ResultsOnTheWay, StateOnTheWay
from supervisor.ports.flows.execution_log import LogAway, LogRefuses, LogTopic
from supervisor.ports.flows.projection import (
    Place,
    ProjectedRecord,
    ProjectionFeed,
    ProjectionStep,
    ProjectionStore,
)
from supervisor.ports.store_problems import ContentRefused, StoreAway, StoreRefuses

__all__ = ["PartitionProjection", "ProjectionLoop", "Projector"]

log = structlog.get_logger()

RECORDS_MAX = 2_000
"""That are read at once."""
_WITHIN_S = 0.1
_AGAIN_S = 0.5
_AGAIN_MAX_S = 10.0
_IDLE_EVERY_S = 1.0
_TROUBLES = (LogAway, LogRefuses, StoreAway, StoreRefuses)


@dataclass
class PartitionProjection:
    """A partition that is being projected."""

    state: StateOnTheWay
    results: ResultsOnTheWay
    trouble: str = ""
    """Why it goes on no more; nothing: it does."""
    reads_results: bool = False
    """Results are read once there are executions to which they belong."""

    @classmethod
    def of(cls, partition: int, positions: Mapping[Place, int]) -> "PartitionProjection":
        """Begin where the tables are."""
        state = positions.get((LogTopic.STATE, partition))
        results = positions.get((LogTopic.RESULTS, partition))
        return cls(
            StateOnTheWay(partition, state, state or 0),
            ResultsOnTheWay(partition, results, results or 0),
        )

    def starts(self) -> Mapping[Place, int | None]:
        """Return what is read next; None: the first record."""
        if self.trouble:
            return {}
        starts: dict[Place, int | None] = {self.state.place: self.state.next or None}
        if self.reads_results:
            starts[self.results.place] = self.results.next or None
        return starts

    def keep(self, step: ProjectionStep) -> None:
        """Note that a step is stored."""
        (self.state if step.place == self.state.place else self.results).keep(step)


class ProjectionLoop:
    """The steps of a projector, for one thread."""

    def __init__(
        self, feed: ProjectionFeed, store: ProjectionStore, idle_every_s: float = _IDLE_EVERY_S
    ) -> None:
        """Own `feed`; read nothing yet.

        `idle_every_s`: how often positions are stored that nothing else moves, and looked at.
        """
        self._feed = feed
        self._store = store
        self._idle_every_s = idle_every_s
        self._idle_at = 0.0
        self.open: dict[int, PartitionProjection] = {}
        self.lag: Mapping[int, int] = {}
        """Partition -> about how many records of STATE the tables are behind."""

    def follow(self, wanted: frozenset[int]) -> None:
        """Read what is wanted; a partition that is new from where the tables are."""
        opened = frozenset(self.open)
        if wanted == opened:
            return
        for partition in opened - wanted:
            del self.open[partition]
        if wanted - opened:
            positions = self._store.positions()
            for partition in wanted - opened:
                self.open[partition] = PartitionProjection.of(partition, positions)
        self._read_from()

    def turn(self, within_s: float = _WITHIN_S) -> bool:
        """Take what came, and store what is whole; return whether all partitions went on.

        If not, the tables are somewhere else, and `follow` reads on from there.
        """
        before = frozenset(self.open)
        for record in self._feed.read(RECORDS_MAX, within_s):
            self._take(record)
        idle = time.monotonic() > self._idle_at
        self._project([each.state.step(idle=idle) for each in self._going()])
        self._project(self._events(idle=idle))
        new = [each for each in self._going() if each.state.was_at_end and not each.reads_results]
        for each in new:
            each.reads_results = True
        if new:
            self._read_from()
        if idle:
            self._idle_at = time.monotonic() + self._idle_every_s
            self._look()
        return frozenset(self.open) == before

    def _look(self) -> None:
        """Work the lag out, and give partitions up whose tables somebody has cleared or moved."""
        positions = self._store.positions()
        for each in list(self.open.values()):
            if each.state.stored != positions.get(each.state.place):
                del self.open[each.state.partition]
        self.lag = {
            number: max(0, self._feed.end(each.state.place) - each.state.done)
            for number, each in self.open.items()
        }

    def troubles(self) -> Mapping[int, str]:
        """Return why partitions go on no more."""
        return {number: each.trouble for number, each in self.open.items() if each.trouble}

    def close(self) -> None:
        """Give the feed up."""
        self.open = {}
        self._feed.close()

    def _going(self) -> Sequence[PartitionProjection]:
        return [each for each in self.open.values() if not each.trouble]

    def _read_from(self) -> None:
        starts: dict[Place, int | None] = {}
        for each in self.open.values():
            starts.update(each.starts())
        self._feed.read_from(starts)

    def _take(self, record: ProjectedRecord) -> None:
        topic, partition = record.place
        opened = self.open.get(partition)
        if opened is None or opened.trouble:
            return  # it was on its way when the partition was left
        try:
            (opened.state if topic is LogTopic.STATE else opened.results).take(record)
        except NewerRecord as error:
            self._give_up(partition, error)

    def _events(self, *, idle: bool) -> Sequence[ProjectionStep | None]:
        """Return the steps of results: events of executions that have a row."""
        going = self._going()
        waiting = frozenset[str]().union(*(each.results.executions() for each in going))
        known = self._store.known(waiting) if waiting else frozenset[str]()
        for each in going:
            each.results.forget_gone(known, each.state, self._feed.end)
        return [each.results.step(known, idle=idle) for each in going]

    def _project(self, some: Sequence[ProjectionStep | None]) -> None:
        """Store steps, in one transaction if nothing is wrong with any."""
        steps = [step for step in some if step is not None]
        if not steps:
            return
        try:
            done = self._store.project(steps)
        except (NewerRecord, ContentRefused) as error:
            if len(steps) == 1:
                self._give_up(steps[0].place[1], error)
                return
            for step in steps:
                self._project([step])
            return
        for name, why in done.unreadable.items():
            log.error("not projected: it cannot be read", entity=name, why=why)
        for step in steps:
            topic, partition = step.place
            if step.place in done.lost:
                log.warning("another projector was faster", topic=topic, partition=partition)
                self.open.pop(partition, None)
            elif partition in self.open:
                self.open[partition].keep(step)

    def _give_up(self, partition: int, error: Exception) -> None:
        """Read a partition no more: only another release goes on with it."""
        log.error("the tables of a partition stay behind", partition=partition, why=str(error))
        self.open[partition].trouble = str(error)


class Projector:
    """Works in one thread from `start` to `stop`; its other methods are for any thread."""

    def __init__(
        self,
        new_feed: Callable[[], ProjectionFeed],
        store: ProjectionStore,
        again_s: float = _AGAIN_S,
    ) -> None:
        """`new_feed`: opens one for the thread; `again_s`: the first pause after a trouble."""
        self._new_feed = new_feed
        self._store = store
        self._again_s = again_s
        self._changed = threading.Condition()
        self._wanted: frozenset[int] = frozenset()
        self._reading: frozenset[int] = frozenset()
        self._lag: Mapping[int, int] = {}
        self._troubles: Mapping[int, str] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="executions-tables", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self, within_s: float = 5.0) -> None:
        """Stop; what is not stored is read again by the next projector."""
        self._ending.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(within_s)

    def begin(self, partitions: Collection[int]) -> None:
        """Project these partitions as well."""
        with self._changed:
            self._wanted = self._wanted | frozenset(partitions)
            self._changed.notify_all()

    def leave(self, partitions: Collection[int], within_s: float = 5.0) -> bool:
        """Project these partitions no more; return whether that is so within the time.

        One that goes on a little does no harm.
        """
        gone = frozenset(partitions)
        with self._changed:
            self._wanted = self._wanted - gone
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not gone & self._reading, within_s)

    def lag(self) -> Mapping[int, int]:
        """Return, by partition, about how many records of STATE the tables are behind."""
        return self._lag

    def troubles(self) -> Mapping[int, str]:
        """Return, by partition, why its tables stay behind."""
        return self._troubles

    def _run(self) -> None:
        pause_s = self._again_s
        while not self._ending.is_set():
            began = time.monotonic()
            try:
                self._work()
            except _TROUBLES as error:
                self._note(str(error) or type(error).__name__)
            except Exception as error:
                log.exception("the projection of executions begins anew")
                self._note(f"{type(error).__name__}: {error}")
            if time.monotonic() - began > _AGAIN_MAX_S:
                pause_s = self._again_s
            self._ending.wait(pause_s)
            pause_s = min(pause_s * 2, _AGAIN_MAX_S)

    def _note(self, why: str) -> None:
        log.warning("the tables of executions stay behind", why=why)
        self._troubles = dict.fromkeys(self._wanted, why)

    def _work(self) -> None:
        loop = ProjectionLoop(self._new_feed(), self._store)
        try:
            while not self._ending.is_set():
                loop.follow(self._wanted)
                self._answer_reading(loop)
                if not loop.open:
                    with self._changed:
                        self._changed.wait_for(lambda: self._ending.is_set() or self._wanted, 1.0)
                elif not loop.turn():
                    self._ending.wait(self._again_s)
                self._lag, self._troubles = loop.lag, loop.troubles()
        finally:
            loop.close()
            self._answer_reading(loop)

    def _answer_reading(self, loop: ProjectionLoop) -> None:
        reading = frozenset(loop.open)
        if reading != self._reading:
            with self._changed:
                self._reading = reading
                self._changed.notify_all()
