"""One worker process: the product's roster, runners and sync over simulated disks and time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import cast

from supervisor.core.values.errors import LeaseLost, WorkerFenced
from tasks.contract.messages import DesiredTask, SyncRequest, TaskPhase
from tasks.contract.offsets import Offsets
from tasks.machine.events import Append, Effect, Look, Merge, Publish, ReadBatch
from tasks.machine.orders import Step
from tasks.machine.pacing import Limits
from tasks.ports import Fenced, OverlordClient
from tasks.worker.batches.turns import BatchTurns
from tasks.worker.journal import Journal, JournalFolder
from tasks.worker.options import WorkerOptions
from tasks.worker.roster import Roster
from tasks.worker.runner import TaskRunner
from tasks.worker.runner import World as RunnerWorld
from tests.simulation.checkers.machines.lines import read_lines
from tests.simulation.processes.actor import Actor
from tests.simulation.processes.engine import SimEngine
from tests.simulation.processes.gate import SimGate
from tests.simulation.processes.leaving import Departure
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.processes.syncing import SimSync
from tests.simulation.world.disk import Disk, Warehouse
from tests.simulation.world.kafka import Kafka
from tests.simulation.world.kernel import Kernel, Process
from tests.simulation.world.network import Network, Reply, Unreachable

_ANSWER_S = 5.0
_PUBLISH_S = 12.0
_STUCK_S = 10_000.0


class TurnsAtTheStart(BatchTurns):
    """Holds every turn: a batch takes it as it begins, and all of a batch is done at its end here.

    Else no simulated batch would ever end well after its cancel.
    """

    @contextmanager
    def turn(self, *, alone: bool, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Run the body."""
        del alone, given_up
        yield True


@dataclass(frozen=True)
class Pace:
    """How long work takes on the workers of a run, in seconds."""

    batch_s: float = 0.5
    merge_s: float = 0.5
    fsync_s: float = 0.02
    long_poll_s: float = 10.0
    report_s: float = 4.5
    slots: int = 4
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Neighbourhood:
    """What all workers share with the world."""

    kernel: Kernel
    network: Network
    kafka: Kafka
    warehouse: Warehouse
    overlords: Sequence[OverlordProcess]
    pace: Pace
    reached: Callable[["WorkerProcess", str], None]
    moved: Callable[["WorkerProcess", Actor, TaskPhase], None]
    was_read: Callable[["WorkerProcess", Actor, ReadBatch], None]
    taken_back: Callable[[str, Offsets, str], None]
    ends: Callable[["WorkerProcess", str], None]
    """A process ends for a reason of its own."""


class _Crew(Roster):
    """The product's roster, whose runners are actors."""

    def __init__(self, worker: "WorkerProcess", options: WorkerOptions) -> None:
        journals = JournalFolder(worker.disk.folder)
        super().__init__(options, worker.world, journals, worker.incarnation)
        self._worker = worker

    def _runner(self, task: DesiredTask, journal: Journal | None, first: Step) -> TaskRunner:
        return Actor(task, journal, first, self._worker)


class _Caller:
    """Tries each overlord in turn until one leads; as
    `tasks.worker.overlord_client.HttpOverlord`.
    """

    def __init__(self, worker: "WorkerProcess") -> None:
        self._worker = worker
        self._overlords = worker.around.overlords
        self._leader = self._overlords[0].name

    def call(
        self, make: Callable[[OverlordProcess, Reply], None], answered: Reply, timeout_s: float
    ) -> None:
        """Call the leader; `answered` hears its answer, Fenced, or Unreachable."""
        first = next(o for o in self._overlords if o.name == self._leader)
        untried = [first, *(o for o in self._overlords if o is not first)]

        def next_one() -> None:
            if not untried:
                answered(Unreachable("no overlord answers"))
                return
            target = untried.pop(0)
            self._worker.around.network.call(
                self._worker,
                target,
                lambda reply: make(target, reply),
                lambda answer: heard(target, answer),
                timeout_s,
            )

        def heard(target: OverlordProcess, answer: object) -> None:
            match answer:
                case WorkerFenced():
                    answered(Fenced(str(answer)))
                case LeaseLost(leader=leader):
                    untried.sort(key=lambda o: o.url != leader)
                    next_one()
                case Exception():
                    next_one()
                case _:
                    self._leader = target.name
                    answered(answer)

        next_one()


class WorkerProcess(Process):
    """A worker; each life is an incarnation, the disk outlives it."""

    world: RunnerWorld

    def __init__(self, name: str, around: Neighbourhood) -> None:
        super().__init__(name)
        self.around = around
        self.disk = Disk(name, around.kernel.random(f"disk of {name}"), self.reach)
        self.engine = SimEngine(around.kafka, around.warehouse, name, self.reach)
        self.random: Random = around.kernel.random(name)
        self.incarnation = 0
        self.stuck_jobs = self.deaf_jobs = self.slow_jobs = 0
        """So many of the next jobs never end by themselves, or even if they are cancelled, or last
        longer than a job may without showing that it moves."""
        self._deaf: set[Actor] = set()
        self._boot_s = 0.0
        self._crew: _Crew | None = None
        self.departure: Departure | None = None
        """Its graceful end, once it was asked for one."""

    @property
    def id(self) -> str:
        """Its name, as the overlord knows it."""
        return self.name

    @property
    def tasks(self) -> Mapping[str, Actor]:
        """Every task of this life, by id; none of a dead process."""
        if self._crew is None or not self.alive:
            return {}
        return cast("Mapping[str, Actor]", self._crew._runners)

    @property
    def journals(self) -> Mapping[str, bytes]:
        """Task -> what its journal holds for certain."""
        return self.disk.journals

    @property
    def frozen(self) -> bool:
        """It is stopped, and will go on."""
        return self.frozen_until > self.around.kernel.now

    def start(self) -> None:
        """Begin an incarnation: nothing runs, the journals are there."""
        self.born()
        pace = self.around.pace
        self._boot_s = self.random.uniform(10, 10_000) - self.around.kernel.now
        self.incarnation = self.disk.next_incarnation(1000 + int(self.around.kernel.now * 1000))
        self.departure = None
        self._options = options = WorkerOptions(
            worker_id=self.name,
            data_dir=Path("unused"),
            warehouse="unused",
            overlords=("unused",),
            slots=pace.slots,
            limits=pace.limits,
            long_poll=timedelta(seconds=pace.long_poll_s),
            report_period=timedelta(seconds=pace.report_s),
        )
        self._gate = SimGate(options.finishing, lambda act: self.later(0.0, act))
        self.world = self._world()
        self._deaf = set()
        self._crew = _Crew(self, options)
        self._caller = _Caller(self)
        self._sync = SimSync(self, options, self._crew, ask=self._ask)
        self.around.kernel.trace(self.name, "starts")
        self._sync.begin()

    def leave(self, grace: timedelta, left: Callable[[], None]) -> None:
        """Begin to end in order, as at SIGTERM; `left` is called when nothing is left to do."""
        if self._crew is None or self.departure is not None:
            return
        steps = self._sync.leaving(grace)
        timeout_s = self._options.stop_timeout.total_seconds()
        self.departure = Departure(self, steps, timeout_s, left)
        self.departure.begin()

    def die(self) -> None:
        """End at once; of what its tasks have read, that counts which is on disk.

        Who left in order has lost nothing that a task at rest had read.
        """
        at_rest = self.departure is not None and self.departure.at_rest
        for actor in self.tasks.values():
            if not at_rest:
                self.took_back(actor, "ended")
        super().die()

    def took_back(self, actor: Actor, why: str) -> None:
        """Tell that a task stands where its journal ends: its job was cut, or its process ended."""
        durable = read_lines(self.disk.journals.get(actor.desired.task_id, b"")).batches
        to = durable[-1].end if durable else actor.desired.start
        self.around.taken_back(actor.desired.task_id, to, why)

    def _world(self) -> RunnerWorld:
        return RunnerWorld(
            engine=self.engine,
            stream=self.around.kafka,
            overlord=cast("OverlordClient", None),
            gate=self._gate,
            changed=self._changed,
            fenced=self.fenced,
            stuck=lambda why: self.around.ends(self, why),
            cancel=lambda task_id: self.tasks[task_id].cut(),
            engine_doubt_s=0.0,
            overlord_answers=lambda: self._sync.is_answered,
            monotonic=self.monotonic,
            failpoint=self.reach,
            turns=TurnsAtTheStart(),
        )

    def _changed(self) -> None:
        self._sync.wake()

    # -- what its tasks use --------------------------------------------------------------------

    def monotonic(self) -> float:
        """Seconds since this machine's own fixed point."""
        return self._boot_s + self.around.kernel.now

    def later(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let `act` happen in this life."""
        self.around.kernel.after(delay_s, act, self)

    def reach(self, point: str) -> None:
        """Pass a point at which the process may end."""
        self.around.reached(self, point)

    def duration(self, actor: Actor, effect: Effect) -> float:
        """Return how long an effect takes; a stuck job takes for ever."""
        pace, random = self.around.pace, self.random
        match effect:
            case ReadBatch():
                self.around.was_read(self, actor, effect)
                return self._job_s(actor, pace.batch_s)
            case Merge():
                return self._job_s(actor, pace.merge_s)
            case Append():
                return pace.fsync_s * random.uniform(0.3, 2.0)
            case Look():
                return random.uniform(0.005, 0.05)
            case _:
                return random.uniform(0.001, pace.fsync_s)

    def _job_s(self, actor: Actor, mean_s: float) -> float:
        self._deaf.discard(actor)
        if self.deaf_jobs:
            self.deaf_jobs -= 1
            self._deaf.add(actor)
            return _STUCK_S
        if self.stuck_jobs:
            self.stuck_jobs -= 1
            return _STUCK_S
        if self.slow_jobs:
            self.slow_jobs -= 1
            actor.keep_moving(self.around.pace.limits.look_s)
            return self.around.pace.limits.progress_s * self.random.uniform(1.1, 1.6)
        return mean_s * self.random.uniform(0.3, 2.0)

    def is_deaf(self, actor: Actor) -> bool:
        """Whether the running job does not end when it is cancelled."""
        return actor in self._deaf

    def enter_finishing(self, actor: Actor) -> bool:
        """Take one of the places for finishing; False: there is none."""
        return self._gate.enter(actor)

    def leave_finishing(self, actor: Actor) -> None:
        """Give it back."""
        self._gate.leave(actor)

    def publish(self, actor: Actor, effect: Publish) -> None:
        """Send a publish request."""
        task_id, token = actor.desired.task_id, actor.desired.token
        self._caller.call(
            lambda target, reply: target.publish(task_id, token, effect.request, reply),
            actor.answered,
            _PUBLISH_S,
        )

    def _ask(self, request: SyncRequest, answered: Reply) -> None:
        self._caller.call(
            lambda target, reply: target.sync(request, self, reply),
            answered,
            request.wait.total_seconds() + _ANSWER_S,
        )

    def fenced(self) -> None:
        """A newer incarnation exists: this process ends."""
        self.around.ends(self, "fenced")

    def moved(self, actor: Actor, before: TaskPhase) -> None:
        """Tell that a task went from one phase to another."""
        self.around.moved(self, actor, before)

    def news(self) -> object:
        """Return what of the reports an overlord waits for, in the form of `Sync`."""
        return tuple(
            (name, a.state.phase, a.state.order.term, a.state.order.sequence, a.state.digest)
            for name, a in self.tasks.items()
        )
