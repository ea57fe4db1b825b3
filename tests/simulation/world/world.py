"""Everything of one run: what there is, what happened, and where the product meets faults."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from supervisor.core.values.errors import MetadataUnavailable
from tasks.contract.messages import FailureCode, TaskPhase
from tasks.contract.offsets import Offsets, TopicPartition
from tasks.machine.events import ReadBatch
from tasks.machine.pacing import Limits as TaskLimits
from tests.simulation.checkers.ledger import Ledger
from tests.simulation.faults import tables
from tests.simulation.faults.beside import NOTHING_BESIDE, Beside
from tests.simulation.faults.faults import TARGET_RATE, Swarm, kind_of
from tests.simulation.faults.rare import AIM_RATE, AIMS, SIBLING
from tests.simulation.faults.slowness import SlowDatabase
from tests.simulation.faults.storms import Storm
from tests.simulation.processes.actor import Actor
from tests.simulation.processes.overlord import Digests, OverlordProcess, Surroundings, Times
from tests.simulation.processes.tables.life import TableLife
from tests.simulation.processes.worker import Neighbourhood, Pace, WorkerProcess
from tests.simulation.world.disk import Warehouse
from tests.simulation.world.kafka import Kafka, Rejects
from tests.simulation.world.kernel import Crash, Kernel, Process
from tests.simulation.world.network import Network, Weather
from tests.simulation.world.secret import SECRET
from tests.simulation.world.store import MemoryDatabase
from tests.simulation.world.stored import SUPERVISOR, Stored

TOPIC = "clicks"


@dataclass(frozen=True)
class Happening:
    """One thing that happened, for checkers."""

    at: float
    kind: str
    detail: Mapping[str, object]


@dataclass
class Tally:
    """What a run counts."""

    faults: Counter[str] = field(default_factory=Counter)
    port_calls: int = 0
    handoffs: int = 0
    publishes: int = 0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(crash point, states of the live generations) of each crash."""
    rows: Counter[str] = field(default_factory=Counter)
    """Row of the failure tables A and B -> how often it happened."""


class World(Stored):
    """The processes, the topic, the disks and the database of one run."""

    def __init__(self, seed: int, swarm: Swarm, beside: Beside = NOTHING_BESIDE) -> None:
        self.swarm, self.beside = swarm, beside
        self.slots = swarm.slots + beside.more_slots
        self.held_back: set[str] = set()
        """Supervisors that cannot go on, whatever ends."""
        self.kernel = self.clock = Kernel(seed)
        self.ledger = Ledger()
        self.secrets = (SECRET,)
        self.random = self.kernel.random("faults")
        self._looks = self.kernel.random("crashes at looks")
        self.network = Network(self.kernel, hurt=self.fault)
        rejects = Rejects(self.kernel.random("rejects"), swarm.rare.rejects)
        self.kafka = Kafka(self.kernel.random("kafka"), lambda: self.kernel.now, rejects)
        self.kafka.password = SECRET
        self.warehouse = Warehouse()
        self.database = MemoryDatabase()
        self.store_connection = self.database.raw
        self.times = Times()
        self.log: list[Happening] = []
        self.bugs: list[str] = []
        self.tally = Tally()
        self.quiet = False
        self.late = False
        """The time for faults is over; what a run has to have, and has not had yet, comes now."""
        self.topics = (TOPIC, TOPIC + SIBLING)[: swarm.rare.topics]
        self.dry = False
        """No more records are written."""
        self.changed = True
        """Something happened since the last look of the checkers."""
        self.database_down_until = -1.0
        self.slow_database = SlowDatabase(self.kernel, self.times.lease_ttl)
        self.storm = Storm()
        self.crash_point = ""
        self.aims = AIMS
        """So many crashes at the rare targets are still wanted."""
        self.entered: Callable[[WorkerProcess, Actor], None] | None = None
        """Told, once it is set, of each new phase of a task before what follows from it."""
        self.tables = TableLife(self)
        self.overlords = self._overlords()
        self.workers = self._workers()
        self.user = Process("user")
        self.user.born()
        self.kernel.crashed = self.crashed

    def _overlords(self) -> list[OverlordProcess]:
        around = Surroundings(
            self.kernel,
            self.kafka,
            self.database,
            self.times,
            reached=self.overlord_reached,
            committed=self._committed,
            happened=self.happened,
            bug=self.bug,
            published=self._published,
            warehouse=self.warehouse,
            looks_beside=self.swarm.rare.looks_beside,
            skew_s=self.swarm.rare.skew_s,
            cleaned=SUPERVISOR if self.swarm.rare.cleans else "",
        )
        return [self.tables.overlord(f"overlord-{n}", around) for n in range(self.swarm.overlords)]

    def _workers(self) -> list[WorkerProcess]:
        swarm = self.swarm
        pace = Pace(
            batch_s=swarm.batch_s,
            merge_s=swarm.merge_s,
            slots=self.slots,
            limits=TaskLimits(
                poll_s=3.0,
                rows_first=swarm.rows_first,
                progress_s=15.0,
                give_up_s=4.0,
                pause_target_s=swarm.rare.pause_target_s,
            ),
        )
        around = Neighbourhood(
            self.kernel,
            self.network,
            self.kafka,
            self.warehouse,
            self.overlords,
            pace,
            reached=self.worker_reached,
            moved=self._moved,
            was_read=self._was_read,
            taken_back=self._taken_back,
            ends=self._ends,
        )
        return [self.tables.worker(f"worker-{n}", around) for n in range(swarm.workers)]

    # -- what is told --------------------------------------------------------------------------

    def happened(self, kind: str, **detail: object) -> None:
        """Write the log that checkers read."""
        self.changed = True
        self.log.append(Happening(self.kernel.now, kind, detail))

    def fault(self, name: str) -> None:
        """Count a fault."""
        self.tally.faults[name] += 1
        self.kernel.trace("fault", name)
        self.happened("fault", name=name)

    def bug(self, text: str) -> None:
        """Note that the product raised what it must not raise."""
        self.bugs.append(f"{self.kernel.now:.3f} {text}")

    def _committed(self, process: OverlordProcess, term: int) -> None:
        lease, holder = self.database.term(), self.database.holder()
        known = {"term": term, "lease_term": lease, "holder": holder, "life": process.life}
        self.happened("commit", overlord=process.name, **known)
        self.kernel.trace(process.name, "commits in term", term)

    def _published(self, task_id: str, outcome: str, digests: Digests) -> None:
        if outcome == "committed":
            self.tally.publishes += 1
        self.happened("publish-answer", task=task_id, outcome=outcome, digests=digests)
        self.kernel.trace("publish", task_id, outcome)

    def _moved(self, worker: WorkerProcess, actor: Actor, before: TaskPhase) -> None:
        task_id, now = actor.desired.task_id, actor.state.phase
        self.kernel.trace(worker.name, task_id, before, "->", now)
        common = {"task": task_id, "worker": worker.name, "life": worker.life}
        failure = actor.state.failure
        if failure is not None and failure.code is FailureCode.INTERNAL:
            self.bug(f"{task_id} failed: {failure.detail}")
        if now is TaskPhase.PAUSED:
            self.happened("pause", **common)
        elif before is TaskPhase.PAUSED:
            self.happened("resume", **common)
        else:
            self.happened("phase", phase=now, **common)
        if self.entered is not None:
            self.entered(worker, actor)

    def _was_read(self, worker: WorkerProcess, actor: Actor, job: ReadBatch) -> None:
        known = {"start": job.start, "end": job.end, "last": actor.state.end}
        self.happened("read", task=actor.desired.task_id, worker=worker.name, **known)

    def _taken_back(self, task_id: str, to: Offsets, why: str) -> None:
        """What a task has read beyond `to` does not count any more."""
        self.happened("taken back", task=task_id, to=to, why=why)

    def _ends(self, worker: WorkerProcess, why: str) -> None:
        """A worker ends by itself, and is started again."""
        self.kernel.trace(worker.name, "ends:", why)
        self.happened("ends", worker=worker.name, incarnation=worker.incarnation, why=why)
        if self.quiet and why == "fenced":
            self.bug(f"{worker.name} was fenced though it is the newest of its name")
        self.kill(worker)

    # -- where the product meets faults --------------------------------------------------------

    def states(self) -> str:
        """Return the states of the live generations."""
        rows = self.store_connection.execute(
            "SELECT state FROM generations WHERE ended_at IS NULL ORDER BY state"
        )
        return "+".join(row[0] for row in rows) or "none"

    def overlord_reached(self, process: OverlordProcess, point: str) -> None:
        """Let what may happen at a port call happen: crash, stop, no database, no answer."""
        self.tally.port_calls += 1
        if self.quiet:
            return
        random, swarm = process.random, self.swarm
        self._maybe_crash(process, point)
        if point.startswith("store.") and not point.startswith("store.leading:inside"):
            if self.kernel.now < self.database_down_until:
                raise MetadataUnavailable("the database is down")
            if point.startswith("store.leading:after") and random.random() < swarm.lost_ack:
                self.fault("commit not acknowledged")
                raise MetadataUnavailable("the connection broke during COMMIT")
            if random.random() < swarm.hold and self.kernel.may_hold:
                self._hold(process, point)
            self.slow_database.answer(process, done=":after" in point)

    def _hold(self, process: OverlordProcess, point: str) -> None:
        frozen = process.random.random() < 0.5
        longest = self.times.lease_ttl * (2.5 if frozen else 0.4)
        seconds = process.random.uniform(0.1, longest)
        self.fault(f"{'frozen' if frozen else 'slow'} at {point}")
        self.kernel.hold(process, seconds, frozen=frozen)

    def _maybe_crash(self, process: Process, point: str) -> None:
        if point.startswith("kafka:"):
            rate, random = self.swarm.rare.look_crash, self._looks
        else:
            rate, random = self.swarm.crash.get(kind_of(point), 0.0), self.random
        if point.endswith((*self.swarm.targets, *self.beside.targets)):
            rate = TARGET_RATE
        aimed = self.aims > 0 and point.endswith(self.swarm.rare.targets)
        if aimed:
            rate = AIM_RATE
        rate = max(rate, self.storm.rate(self.kernel.now, process))
        if rate and random.random() < rate:
            self.aims -= aimed
            self.crash(process, point)

    def crash(self, process: Process, point: str) -> None:
        """End a process here.

        Raises:
            Crash: always.
        """
        states = self.states()
        self.tally.pairs[point, states] += 1
        if isinstance(process, OverlordProcess):
            self.tally.rows.update(tables.of_overlord(point, states))
            self.tally.rows["A14"] += self.storm.died(process)
        self.fault(f"crash of {process.name.partition('-')[0]}")
        self.happened("crash", point=point, process=process.name)
        self.kernel.trace("crash", process.name, point)
        self.crash_point = point
        raise Crash(process)

    def worker_reached(self, process: WorkerProcess, point: str) -> None:
        """Let a worker, or its machine, end at an effect."""
        self.tally.port_calls += 1
        if not self.quiet:
            self._maybe_crash(process, point)

    def crashed(self, process: Process) -> None:
        """Bury a process that ended in the middle of something, and start it again some day."""
        if not process.alive:
            return
        power = self.swarm.crash.get("power", 0.0)
        lost = isinstance(process, WorkerProcess) and self.random.random() < power
        soon = isinstance(process, OverlordProcess) and self.storm.of_leaders(self.kernel.now)
        away_s = 1.0 if soon else None
        self.kill(process, power_lost=lost, point=self.crash_point, away_s=away_s)

    def kill(
        self,
        process: Process,
        *,
        power_lost: bool = False,
        point: str = "",
        away_s: float | None = None,
    ) -> None:
        """End a process, or its machine, and start it again after a while."""
        if not process.alive:
            return
        if isinstance(process, WorkerProcess):
            phases = {actor.state.phase for actor in process.tasks.values()}
            self.tally.rows.update(tables.of_worker(point, phases))
        process.die()
        self.changed = True
        if power_lost and isinstance(process, WorkerProcess):
            self.fault("power loss")
            process.disk.power_lost()
            self.warehouse.power_lost(process.name)
        soon = self.random.random() < 0.7
        longest = 2.0 if soon else 2 * self.times.worker_timeout
        life = process.life
        again = self.random.uniform(0.2, longest) if away_s is None else away_s
        self.kernel.after(again, lambda: self.revive(process, life))

    def revive(self, process: Process, life: int) -> None:
        """Start a process again, unless somebody has."""
        if process.life == life and not process.alive:
            assert isinstance(process, OverlordProcess | WorkerProcess)
            process.start()
            self.changed = True

    # -- the end -------------------------------------------------------------------------------

    def calm_down(self) -> None:
        """Let every fault end, and everything run again."""
        # Checkers look while it still stands: a worker that thaws now has broken no pause.
        self.changed = True
        self.kernel.observed()
        self.quiet = True
        self.network.heal()
        self.kafka.down_until = self.database_down_until = -1.0
        self.slow_database.end()
        self.tables.calm_down()
        for process in (*self.overlords, *self.workers):
            process.frozen_until = min(process.frozen_until, self.kernel.now)
            if isinstance(process, WorkerProcess):
                process.disk.full = process.engine.full = False
                process.stuck_jobs = process.deaf_jobs = process.slow_jobs = 0
            self.revive(process, process.life)
        for topic in self.topics:
            if not self.kafka.exists(topic):
                self.kafka.create(topic, self.swarm.partitions)
            for number in range(self.kafka.partitions(topic)):
                self.kafka.decide(TopicPartition(topic, number), commit=True)

    def weather(self) -> Weather:
        """Return the network of this run."""
        swarm = self.swarm
        return Weather(
            slow=swarm.slow,
            slow_s=3 * self.times.lease_ttl if swarm.slow < 0.05 else 1.0,
            drop=swarm.drop,
            double=swarm.double,
        )
