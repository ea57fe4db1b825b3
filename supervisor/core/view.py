"""One snapshot with the questions that several rules of the planner ask of it."""

from dataclasses import dataclass
from functools import cached_property

from supervisor.core.handoff import ReplicaView
from supervisor.core.model import Generation, Liveness, Observed, Task
from supervisor.core.placement import layout
from supervisor.core.spec import SupervisorSpec
from tasks.offsets import TopicPartition


@dataclass(frozen=True)
class View:
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
        if bound is None or asked(bound) != asked(current):
            return f"spec version {self.seen.current.version} differs from its own"
        members = self.groups.get(generation.group, ())
        if generation.task_count != self.task_count or set(members) != set(generation.start):
            return "the layout has changed: taskCount or partitions"
        return None


def asked(spec: SupervisorSpec) -> SupervisorSpec:
    """Return what a spec asks of its tasks; being suspended is no part of it."""
    return spec.model_copy(update={"suspended": False})
