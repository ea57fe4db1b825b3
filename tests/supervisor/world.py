"""One supervisor in a small world: real planner, shell, publishing and store; workers by hand."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from supervisor.adapters.kafka.memory import MemoryStreams
from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.desired_state import desired_state
from supervisor.control.end_task import TaskEnder
from supervisor.control.leadership import Leadership
from supervisor.control.loop import Loop
from supervisor.control.observe import Sources
from supervisor.control.publish import Publisher
from supervisor.control.reconcile import ActionContext, make_pass
from supervisor.core.model.rows import Task, WorkerRow
from supervisor.core.planning.observed import Liveness, PlanLimits, WorkerView
from supervisor.core.planning.passes import Pass
from supervisor.core.planning.wake_condition import WakeCondition
from supervisor.core.queue.events import QueueConfig
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Store, Transaction
from tasks.contract.messages import (
    CompactionReport,
    Counters,
    DesiredTask,
    KeptOrder,
    OffsetSpan,
    PublishAnswer,
    PublishOutcome,
    PublishRequest,
    RunState,
    SegmentFile,
    SyncResponse,
    TaskPhase,
    TaskReport,
)
from tasks.contract.offsets import Offsets, TopicPartition
from tests.supervisor.core.snapshots import NOON, TOPIC, spec

AT_REST_AFTER = 30
"""Passes; a planner that still acts after them goes round in a circle."""
GC_DELAY = timedelta(minutes=10)
ENDINGS = TaskEnder(QueueConfig(delay=GC_DELAY))


class Crash(Exception):
    """The process ends here."""


class CrashingStore:
    """A store whose process dies before or after some of its leading transactions."""

    def __init__(self, store: Store) -> None:
        self.sound = store
        self.calls = 0
        self.before: set[int] = set()
        self.after: set[int] = set()

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.sound.reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        return self.sound.writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self._leading(term)

    def on_added(self, heard: Heard) -> None:
        self.sound.on_added(heard)

    @contextmanager
    def _leading(self, term: int) -> Iterator[Transaction]:
        call, self.calls = self.calls, self.calls + 1
        if call in self.before:
            raise Crash(f"before transaction {call}")
        with self.sound.leading(term) as tx:
            yield tx
        if call in self.after:
            raise Crash(f"after transaction {call}")


@dataclass
class Replica:
    """A task as a worker runs it."""

    wanted: DesiredTask
    position: dict[TopicPartition, int]
    phase: TaskPhase = TaskPhase.READING
    stopped: bool = False
    """The answer to its publish request was final."""

    def obey(self, wanted: DesiredTask) -> None:
        """Follow the newest order."""
        if wanted.order.rank < self.wanted.order.rank or self.phase is TaskPhase.FAILED:
            return
        assert wanted.order.pause_lease > timedelta(0), "a pause without a lease may last for ever"
        self.wanted = wanted
        if wanted.order.end is not None:
            self.position = dict(wanted.order.end)  # reads on, or drops what lies beyond (P14)
            self.phase = TaskPhase.PUBLISHING
        else:
            paused = wanted.order.state is RunState.PAUSE
            self.phase = TaskPhase.PAUSED if paused else TaskPhase.READING

    def report(self) -> TaskReport:
        """Say how far it is."""
        return TaskReport(
            task_id=self.wanted.task_id,
            phase=self.phase,
            order_term=self.wanted.order.term,
            order_sequence=self.wanted.order.sequence,
            position=self.position,
        )


@dataclass
class Hand:
    """One worker: what it runs, and what the overlord last heard of it."""

    id: str
    slots: int = 8
    incarnation: int = 1
    liveness: Liveness = Liveness.ALIVE
    held: dict[str, Replica] = field(default_factory=dict)
    heard: dict[str, TaskReport] = field(default_factory=dict)
    compacts: set[str] = field(default_factory=set)
    """Compactions that the overlord last heard of."""

    def obey(self, answer: SyncResponse) -> None:
        """Run what is listed or kept, and nothing else."""
        held = {k: self.held[k] for k in answer.kept if k in self.held}
        for kept in answer.kept_orders:
            if kept.task_id in held:
                held[kept.task_id].obey(_with(held[kept.task_id].wanted, kept))
        for wanted in answer.tasks:
            replica = self.held.get(wanted.task_id) or Replica(wanted, dict(wanted.start))
            replica.obey(wanted)
            held[wanted.task_id] = replica
        self.held = held

    def speak(self) -> None:
        """Let the overlord hear of every task."""
        self.heard = {task_id: held.report() for task_id, held in self.held.items()}
        self.liveness = Liveness.ALIVE


def _with(wanted: DesiredTask, kept: KeptOrder) -> DesiredTask:
    return wanted.model_copy(update={"order": kept.order, "turn": kept.turn})


@dataclass
class Hands:
    """Implements `ports.Workers`."""

    all: dict[str, Hand] = field(default_factory=dict)
    led: timedelta = timedelta(milliseconds=1)

    def views(self) -> tuple[WorkerView, ...]:
        return tuple(
            WorkerView(
                id=hand.id,
                incarnation=hand.incarnation,
                liveness=hand.liveness,
                slots=hand.slots,
                stopping=False,
                reports=dict(hand.heard),
                compactions={c: CompactionReport(compaction_id=c) for c in hand.compacts},
            )
            for _, hand in sorted(self.all.items())
        )

    def starts(self, task_id: str, worker_id: str, term: int) -> None:
        """Forget it: no worker of this world registers anew."""

    def watch(self, supervisor_id: str, milestones: Mapping[str, WakeCondition]) -> None:
        """Wake nobody: the tests of this world make their passes themselves."""

    def reads(self, supervisor_id: str, tasks: Sequence[Task]) -> None:
        """Forget it: nobody asks this world for rows per second."""

    def led_for(self) -> timedelta:
        """Of this leader: what is stored ahead of the clock was stored before its term."""
        return self.led


class World:
    """A leader over `store`, a topic of `partitions`, and two workers."""

    id = TOPIC
    """Of the supervisor."""

    def __init__(self, store: Store, wanted: SupervisorSpec | None, partitions: int = 2) -> None:
        self.store = CrashingStore(store)
        self.clock = ManualClock(NOON)
        self.streams = MemoryStreams(self.clock)
        self.streams.create(TOPIC, partitions)
        self.ends = {TopicPartition(TOPIC, number): 0 for number in range(partitions)}
        self.hands = Hands({name: Hand(name) for name in ("w1", "w2")})
        self.passes: list[Pass] = []
        """Passes that went through and had something to do."""
        self.leadership = self._elected()
        with store.leading(self.leadership.term()) as tx:
            for name, hand in self.hands.all.items():
                row = WorkerRow(name, hand.incarnation, f"http://{name}", hand.slots, NOON)
                tx.workers.register(row)
        self.set_spec(wanted or spec())

    def _elected(self) -> Leadership:
        # The election itself is no part of the story: it does not crash.
        leader = Leadership(
            self.store.sound, self.clock, holder="me", url="http://me", ttl=timedelta(days=900)
        )
        leader.step()
        assert leader.leads()
        return leader

    def take_over(self, behind: timedelta = timedelta(0)) -> None:
        """Let the next overlord lead, whose clock is behind by so much."""
        self.leadership.stop()
        if behind:
            self.clock = self.streams._clock = ManualClock(self.clock.now() - behind)
        self.leadership = self._elected()

    @property
    def shell(self) -> ActionContext:
        """What a pass is made with."""
        sources = Sources(self.store, self.streams, self.hands, PlanLimits())
        tokens = (f"token-{number}" for number in range(self.store.calls, 1_000_000))
        return ActionContext(sources, self.clock, lambda: next(tokens), ENDINGS)

    @property
    def publishing(self) -> Publisher:
        """What a worker's publish request reaches; its loop is never started."""
        loop = Loop(lambda _: None, self.clock, threads=1)
        return Publisher(self.store, self.clock, self.leadership, loop, ENDINGS)

    def set_spec(self, wanted: SupervisorSpec | None) -> None:
        """Store the next version of the spec; None is a tombstone."""
        with self.store.sound.leading(self.leadership.term()) as tx:
            tx.specs.append(self.id, wanted, self.clock.now(), "a story")

    def write(self, records: int) -> None:
        """Append records to every partition of every topic."""
        for partition in self.ends:
            self.write_to(partition, records)

    def write_to(self, partition: TopicPartition, records: int) -> None:
        """Append records to one partition."""
        self.ends[partition] += records
        self.streams.append(partition.topic, partition.partition, records)

    def create(self, topic: str, partitions: int) -> None:
        """Make one more topic."""
        self.streams.create(topic, partitions, f"id of {topic}")
        self.ends |= {TopicPartition(topic, number): 0 for number in range(partitions)}

    def add_partitions(self, topic: str, partitions: int) -> None:
        """Let a topic have so many partitions more."""
        first = sum(p.topic == topic for p in self.ends)
        self.streams.add_partitions(topic, partitions)
        self.ends |= {TopicPartition(topic, first + n): 0 for n in range(partitions)}

    def read(self, records: int) -> None:
        """Let every reading replica read on, as far as the topic goes."""
        for _, replica in self.replicas():
            if replica.phase is TaskPhase.READING:
                limit = {**self.ends, **(replica.wanted.bound or {})}
                replica.position = {
                    p: max(at, min(at + records, self.ends[p], limit[p]))
                    for p, at in replica.position.items()
                }

    def read_along(self) -> None:
        """Let records come and be read, three times five of each partition."""
        for _ in range(3):
            self.settle()
            self.sync()
            self.write(5)
            self.read(5)

    def one_pass(self) -> Pass:
        """Make one pass."""
        latest = make_pass(self.id, self.shell, self.leadership.term())
        assert latest is not None
        if latest.decided.actions:
            self.passes.append(latest)
        return latest

    def settle(self) -> None:
        """Make passes until one has nothing to do."""
        for _ in range(AT_REST_AFTER):
            if not self.one_pass().decided.actions:
                return
        raise AssertionError("the planner goes round in a circle")

    def sync(self, *names: str) -> None:
        """Let workers hear their orders, follow them and tell so."""
        for name in names or tuple(self.hands.all):
            hand = self.hands.all[name]
            with self.store.reading() as tx:
                term = self.leadership.term()
                hand.obey(desired_state(tx, name, term, PlanLimits().pause_lease))
            hand.speak()

    def replicas(self) -> Iterator[tuple[Hand, Replica]]:
        """Every replica of every worker."""
        for _, hand in sorted(self.hands.all.items()):
            for _, replica in sorted(hand.held.items()):
                yield hand, replica

    def ready_to_publish(self) -> list[tuple[Hand, Replica]]:
        """Replicas that have reached their end."""
        return [(h, r) for h, r in self.replicas() if r.wanted.order.end and not r.stopped]

    def publish(self, hand: Hand, replica: Replica) -> PublishAnswer:
        """Offer one file with the replica's whole range."""
        request = publish_request(replica.wanted, hand.incarnation)
        answer = self.publishing.publish(request.task_id, replica.wanted.token, request)
        if answer.outcome is not PublishOutcome.WAIT_FOR_PREDECESSOR:
            replica.stopped = True
        return answer


def publish_request(wanted: DesiredTask, incarnation: int = 1) -> PublishRequest:
    """What a task offers whose end is fixed."""
    assert wanted.order.end is not None
    return PublishRequest(
        task_id=wanted.task_id,
        incarnation=incarnation,
        start=wanted.start,
        end=wanted.order.end,
        topic_ids=wanted.topic_ids,
        segments=(segment_file(wanted.task_id, wanted.start, wanted.order.end),),
        counters=Counters(),
    )


def segment_file(
    task_id: str, start: Offsets, end: Offsets, name: str = "part-0.parquet"
) -> SegmentFile:
    """One file that holds a range whole."""
    spans = tuple(
        OffsetSpan(
            topic=p.topic, partition=p.partition, first=at, last=end[p] - 1, rows=end[p] - at
        )
        for p, at in sorted(start.items())
        if end[p] > at
    )
    return SegmentFile(
        path=f"{TOPIC}/data/{task_id}/{name}",
        interval_start=NOON,
        interval_end=NOON + timedelta(hours=1),
        rows=sum(span.rows for span in spans),
        size_bytes=1_000,
        sha256="0" * 64,
        time_min=NOON,
        time_max=NOON + timedelta(minutes=1),
        spans=spans,
    )
