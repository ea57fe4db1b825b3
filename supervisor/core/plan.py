"""What is decided: a snapshot in, effects out, each with its reason.

A pass settles tasks that have ended, moves handoffs on, opens groups that are missing, and starts
replicas that are missing, in this order.  It remembers nothing: the next snapshot shows what the
actions did, and a pass that crashed is simply made again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from supervisor.core import handoff, names
from supervisor.core.actions import (
    Action,
    BeginHandoff,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    OpenGeneration,
    Plan,
    SlotNeed,
    StartTask,
)
from supervisor.core.handoff import ReplicaView
from supervisor.core.model import (
    Generation,
    GenerationState,
    Liveness,
    Observed,
    Task,
    TaskStatus,
)
from supervisor.core.placement import Slots, layout
from supervisor.core.spec import SupervisorSpec, schema_digest
from tasks.contract import TaskPhase
from tasks.offsets import TopicPartition


def plan(seen: Observed) -> Plan:
    """Decide what brings `seen` closer to its spec.  Same `seen`, same plan."""
    view = _View(seen)
    settled = tuple(_settle_tasks(view))
    ended = {action.task_id for action in settled}
    step = _Steps(view)
    moved = tuple(step.move_generations())
    opened: tuple[Action, ...] = (*_commit_initial_offsets(view), *step.open_missing_groups())
    starts = _Starts(view, Slots(seen.workers), ended, closing=step.closing)
    started = tuple(starts.start_missing_replicas())
    actions: tuple[Action, ...] = (*settled, *moved, *opened, *started)
    wakes = [at for at in (*step.wakes, *starts.wakes) if at > seen.now]
    if not seen.stream.known and view.spec is not None:
        wakes.append(seen.now + seen.limits.stream_retry)
    at_rest = min([*wakes, seen.now + seen.limits.period])  # bounds what a lost wake-up costs
    need = SlotNeed(starts.needed, starts.free) if starts.unplaced else None
    return Plan(actions, wake_at=seen.now if actions else at_rest, waiting_for_slots=need)


@dataclass(frozen=True)
class _View:
    """The snapshot with the questions that several rules ask of it."""

    seen: Observed

    @cached_property
    def spec(self) -> SupervisorSpec | None:
        """The newest spec if it wants tasks: not suspended, not terminated."""
        spec = self.seen.current.spec
        return None if spec is None or spec.suspended else spec

    @cached_property
    def groups(self) -> dict[int, tuple[TopicPartition, ...]]:
        """The layout that the newest spec asks for, over the partitions with stored offsets."""
        if self.spec is None:
            return {}
        topic = self.spec.io_config.topic
        known = [p for p in self.seen.committed if p.topic == topic]
        return layout(known, self.spec.io_config.task_count)

    @cached_property
    def task_count(self) -> int:
        """Groups of the present layout."""
        return len(self.groups)

    @cached_property
    def partition_count(self) -> int:
        """Partitions of the present layout."""
        return sum(len(members) for members in self.groups.values())

    @cached_property
    def layout_version(self) -> int:
        """Grows when taskCount or the partitions change."""
        newest = self.seen.newest
        if newest is None:
            return 1
        same = (newest.task_count, newest.partition_count) == (
            self.task_count,
            self.partition_count,
        )
        return newest.layout_version + (0 if same else 1)

    def replicas(self, generation: Generation) -> list[ReplicaView]:
        """Active tasks of a generation with their reports."""
        return [self.replica(t) for t in self.seen.tasks if t.generation_id == generation.id]

    def replica(self, task: Task) -> ReplicaView:
        """One task with what its worker says; silent before the first report to this leader."""
        worker = next((w for w in self.seen.workers if w.id == task.worker_id), None)
        if worker is None:  # the soft state of this term is not filled yet (P4, P6)
            return ReplicaView(task, Liveness.UNKNOWN, None)
        report = worker.reports.get(task.id)
        return ReplicaView(task, worker.liveness, report)

    def ends_for_good(self, generation: Generation) -> str | None:
        """Why a generation has to end even if it read nothing; None: it may go on."""
        current = self.seen.current.spec
        if current is None:
            return "the supervisor is terminated"
        if current.suspended:
            return "the supervisor is suspended"
        bound = self.seen.specs.get(generation.spec_version)
        # Suspending and resuming stores new versions of the same content: nothing to restart.
        if bound is None or _asked(bound) != _asked(current):
            return f"spec version {self.seen.current.version} differs from its own"
        members = self.groups.get(generation.group, ())
        if generation.task_count != self.task_count or set(members) != set(generation.start):
            return "the layout has changed: taskCount or partitions"
        return None


def _asked(spec: SupervisorSpec) -> SupervisorSpec:
    return spec.model_copy(update={"suspended": False})


def _settle_tasks(view: _View) -> Iterator[EndTask]:
    """End tasks that failed, whose worker is lost, or whose generation has ended."""
    live = {g.id for g in view.seen.generations}
    for task in view.seen.tasks:
        replica = view.replica(task)
        if task.generation_id not in live:
            yield EndTask(task.id, succeeded=True, why="its generation has ended")
        elif replica.report is not None and replica.report.phase is TaskPhase.FAILED:
            code = replica.report.failure or "FAILED"
            yield EndTask(task.id, succeeded=False, why=f"{code}: {replica.report.detail}")
        elif replica.liveness is Liveness.LOST:
            why = f"worker {task.worker_id} is lost"
            yield EndTask(task.id, succeeded=False, why=why, lost=True)


def _commit_initial_offsets(view: _View) -> Iterator[CommitInitialOffsets]:
    """Store where reading begins before the first task starts, or a new partition joins (P10)."""
    seen, spec = view.seen, view.spec
    if spec is None or not seen.stream.known:
        return
    topic = spec.io_config.topic
    stored = {p for p in seen.committed if p.topic == topic}
    found = {p for p in seen.stream.earliest if p.topic == topic}
    topic_id = seen.stream.topic_ids[topic]
    if not stored:
        earliest = spec.io_config.use_earliest_offset
        source = seen.stream.earliest if earliest else seen.stream.stable
        why = f"no stored offsets: reading begins at the {'earliest' if earliest else 'latest'}"
        yield CommitInitialOffsets(topic, topic_id, {p: source[p] for p in sorted(found)}, why)
        return
    new = {p for p in found - stored if p.partition >= len(stored)}
    if new and all(seen.committed[p].topic_id == topic_id for p in stored):
        offsets = {p: seen.stream.earliest[p] for p in sorted(new)}
        why = f"{len(new)} new partition(s): a partition that joins later starts at its earliest"
        yield CommitInitialOffsets(topic, topic_id, offsets, why)


class _Steps:
    """Moves open generations on and opens missing ones; hands out ordinals as it goes."""

    def __init__(self, view: _View) -> None:
        self._view = view
        self._seen = view.seen
        self._ordinal = view.seen.newest.ordinal if view.seen.newest else 0
        self._begun = 0
        self.wakes: list[datetime] = []
        self.closing: set[str] = set()
        """Generations that this plan ends or pauses: they get no new replicas."""

    def move_generations(self) -> Iterator[Action]:
        """Begin what is due and do the next step of what has begun, oldest first."""
        for generation in self._seen.generations:
            match generation.state:
                case GenerationState.READING:
                    yield from self._begin(generation)
                case GenerationState.PAUSING:
                    yield from self._go_on(generation)
                case GenerationState.PUBLISHING:
                    yield from self._give_up(generation)
                case _:
                    raise AssertionError(f"{generation.id} is not live: {generation.state}")

    def _begin(self, generation: Generation) -> Iterator[BeginHandoff]:
        must = self._view.ends_for_good(generation)
        why = must or self._due(generation)
        if why is not None:
            self.closing.add(generation.id)
            self._begun += 1
            yield BeginHandoff(
                generation.id, generation.sequence, must_end=must is not None, why=why
            )

    def _due(self, generation: Generation) -> str | None:
        spec = self._seen.specs[generation.spec_version]
        due = generation.timer_started_at + spec.io_config.task_duration
        if self._seen.now < due:
            self.wakes.append(due)
            return None
        bound = spec.io_config.stop_task_count or generation.task_count
        busy = [g for g in self._seen.generations if g.state is not GenerationState.READING]
        if len(busy) + self._begun >= bound:
            return None  # a step of those wakes the loop
        reading = {TaskPhase.READING, TaskPhase.PAUSED}
        if not any(
            r.report is not None and r.report.phase in reading
            for r in self._view.replicas(generation)
        ):
            return None  # nobody could say how far it is; its first report wakes the loop
        seconds = spec.io_config.task_duration.total_seconds()
        return f"taskDuration of {seconds:g} s is over"

    def _go_on(self, generation: Generation) -> Iterator[Action]:
        self.closing.add(generation.id)
        step = handoff.next_step(
            generation,
            self._view.replicas(generation),
            self._successor(generation),
            self._seen.now,
            self._seen.limits,
        )
        if step.wake_at is not None:
            self.wakes.append(step.wake_at)
        yield from step.actions

    def _give_up(self, generation: Generation) -> Iterator[DiscardGeneration]:
        """After a tombstone what is lost is discarded, not replaced (P19)."""
        if self._seen.current.terminated and not self._view.replicas(generation):
            self.closing.add(generation.id)
            yield DiscardGeneration(
                generation.id, "the supervisor is terminated and no replica lives"
            )

    def _successor(self, generation: Generation) -> OpenGeneration | None:
        members = self._view.groups.get(generation.group, ())
        same_layout = generation.task_count == self._view.task_count
        if not (same_layout and set(members) == set(generation.start)):
            return None
        return self._open(generation.group, dict(generation.start), "its predecessor hands off")

    def open_missing_groups(self) -> Iterator[OpenGeneration]:
        """Open every group of the layout whose partitions no open generation holds."""
        if self._view.spec is None or self._starts_later(self._view.spec):
            return
        held = {p for g in self._seen.generations if g.open for p in g.start}
        for group, members in self._view.groups.items():
            if held.isdisjoint(members):
                start = {p: self._reached(p) for p in members}
                yield self._open(
                    group, start, f"group {group} of {self._view.task_count} is missing"
                )

    def _starts_later(self, spec: SupervisorSpec) -> bool:
        at = self._seen.current.created_at + spec.io_config.start_delay
        if self._seen.newest is None and self._seen.now < at:
            self.wakes.append(at)
            return True
        return False

    def _reached(self, partition: TopicPartition) -> int:
        """End of the newest live generation of a partition, else its committed offset (P8)."""
        ends = [
            g.end[partition]
            for g in self._seen.generations
            if g.end is not None and partition in g.end
        ]
        return ends[-1] if ends else self._seen.committed[partition].next_offset

    def _open(self, group: int, start: dict[TopicPartition, int], why: str) -> OpenGeneration:
        self._ordinal += 1
        return OpenGeneration(
            generation_id=names.generation_id(self._seen.current.supervisor_id, self._ordinal),
            ordinal=self._ordinal,
            layout_version=self._view.layout_version,
            task_count=self._view.task_count,
            partition_count=self._view.partition_count,
            group=group,
            spec_version=self._seen.current.version,
            start=start,
            why=why,
        )


class _Starts:
    """Gives each live generation its replicas, oldest generation first (P18)."""

    def __init__(self, view: _View, slots: Slots, ended: set[str], *, closing: set[str]) -> None:
        self._view = view
        self._seen = view.seen
        self._slots = slots
        self._ended = ended
        self._closing = closing
        self.free = slots.free
        self.needed = 0
        self.unplaced = False
        self.wakes: list[datetime] = []

    def start_missing_replicas(self) -> Iterator[StartTask]:
        """Start what is missing and may start now."""
        if self._seen.current.terminated:
            return  # what runs may finish, nothing new starts (P19)
        for generation in self._seen.generations:
            if generation.id not in self._closing:
                yield from self._of(generation)

    def _of(self, generation: Generation) -> Iterator[StartTask]:
        spec = self._seen.specs[generation.spec_version]
        active = {t.replica: t for t in self._seen.tasks if t.generation_id == generation.id}
        publishing = generation.state is GenerationState.PUBLISHING
        if publishing and any(t.id not in self._ended for t in active.values()):
            return  # one replica is enough to publish what is fixed
        beside = {t.worker_id for t in active.values()}
        for replica in range(1 if publishing else spec.io_config.replicas):
            if replica in active or self._too_early(generation, replica):
                continue
            self.needed += 0 if publishing else 1
            worker = self._slots.take(beside, needs_slot=not publishing)
            if worker is None:
                self.unplaced = True
                continue
            beside.add(worker.id)
            yield self._start(generation, replica, worker.id, worker.incarnation)

    def _start(
        self, generation: Generation, replica: int, worker_id: str, incarnation: int
    ) -> StartTask:
        last = self._seen.last_attempts.get((generation.id, replica))
        attempt = 1 if last is None else last.attempt + 1
        spec = self._seen.specs[generation.spec_version]
        base = names.base_sequence_name(
            generation.supervisor_id, schema_digest(spec), generation.start
        )
        return StartTask(
            task_id=names.task_id(base, generation.id, replica, attempt),
            generation_id=generation.id,
            replica=replica,
            attempt=attempt,
            worker_id=worker_id,
            incarnation=incarnation,
            why="a replica is missing" if last is None else f"replaces {last.id}: {last.reason}",
        )

    def _too_early(self, generation: Generation, replica: int) -> bool:
        last = self._seen.last_attempts.get((generation.id, replica))
        if last is None or last.status is not TaskStatus.FAILED or last.ended_at is None:
            return False
        if last.lost:
            return False  # `worker_timeout` has been waited for already
        at = last.ended_at + _backoff(self._seen)
        self.wakes.append(at)
        return self._seen.now < at


def _backoff(seen: Observed) -> timedelta:
    """The first replacement comes at once; from the second failure in a row the wait doubles."""
    failures = seen.failures_in_a_row
    if failures <= 1:
        return timedelta(0)
    exponent = min(failures - 2, 20)
    return min(seen.limits.backoff_max, seen.limits.backoff_first * float(2**exponent))
