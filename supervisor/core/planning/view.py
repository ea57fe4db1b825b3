"""One snapshot with the questions that several rules of the planner ask of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.observed import Liveness, Observed
from supervisor.core.planning.offset_ranges import chain_end
from supervisor.core.planning.placement import layout
from supervisor.core.planning.rules.bounds import mismatched
from supervisor.core.planning.rules.handoff import ReplicaView
from supervisor.core.spec.changes import compare
from supervisor.core.spec.sections.io_config import COMPLETION_TIMEOUT
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import TopicPartition


@dataclass(frozen=True)
class PassView:
    """The snapshot with the questions that several rules ask of it."""

    seen: Observed

    @cached_property
    def spec(self) -> SupervisorSpec | None:
        """The newest spec if it wants tasks: not suspended, not terminated."""
        spec = self.seen.current.spec
        return None if spec is None or spec.suspended else spec

    @cached_property
    def ends(self) -> Mapping[TopicPartition, int] | None:
        """Where the newest spec lets reading end for good; None: nowhere."""
        return None if self.spec is None else self.spec.io_config.ends

    @cached_property
    def groups(self) -> dict[int, tuple[TopicPartition, ...]]:
        """The present layout without partitions that are at their end; without empty groups."""
        ends = self.ends
        if ends is None:
            return self.layout
        left = {
            group: tuple(p for p in members if self.next_start(p) < ends[p])
            for group, members in self.layout.items()
        }
        return {group: members for group, members in left.items() if members}

    def next_start(self, partition: TopicPartition) -> int:
        """End of the newest live generation of a partition, else its committed offset (P8)."""
        return chain_end(
            self.seen.generations, partition, self.seen.committed[partition].next_offset
        )

    @cached_property
    def layout(self) -> dict[int, tuple[TopicPartition, ...]]:
        """The layout that the newest spec asks for, over the partitions with stored offsets."""
        if self.spec is None:
            return {}
        io_config = self.spec.io_config
        if mismatched(self.spec, self.seen.committed) is not None:
            return {}
        known = [p for p in self.seen.committed if io_config.reads(p.topic)]
        if self.ends is not None:
            known = [p for p in known if p in self.ends]
        if io_config.topic is None:
            known = [p for p in known if self._is_readable(p)]
        several = io_config.topic is None
        return layout(known, io_config.task_count, several_topics=several)

    def _is_readable(self, partition: TopicPartition) -> bool:
        """Whether a topic of a pattern is there: one that is gone, or another, stops no other.

        While Kafka does not tell, what is open is as it was: no group is divided anew for that.
        """
        if self.seen.stream.known:
            topic_id = self.seen.stream.topic_ids.get(partition.topic)
            return topic_id == self.seen.committed[partition].topic_id
        return not self._held or partition in self._held

    @cached_property
    def _held(self) -> frozenset[TopicPartition]:
        """What open ranges hold."""
        return frozenset(p for g in self.seen.generations if g.open for p in g.start)

    @cached_property
    def task_count(self) -> int:
        """Groups of the present layout."""
        return len(self.layout)

    @cached_property
    def partition_count(self) -> int:
        """Partitions of the present layout."""
        return sum(len(members) for members in self.layout.values())

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
        if (field := self.outdated(generation)) is not None:
            version = self.seen.current.version
            return f"spec version {version} differs from its own" + (field and f": {field}")
        if not self.fits(generation):
            return "the layout has changed: taskCount or partitions"
        return None

    def fits(self, generation: Generation) -> bool:
        """Whether a generation is a group of the present layout.

        Groups of several topics are told by their partitions alone: a new topic that goes to
        other groups leaves the rest in peace.
        """
        if set(self.groups.get(generation.group, ())) != set(generation.start):
            return False
        spec = self.spec
        several = spec is not None and spec.io_config.topic is None
        return several or generation.task_count == self.task_count

    def governing_spec(self, generation: Generation) -> SupervisorSpec:
        """Return the spec whose replicas, durations and limits hold for a generation now.

        The newest, if it asks for the same tasks as the generation's own; else its own.
        """
        current = self.seen.current.spec
        if current is not None and self.outdated(generation) is None:
            return current
        return self.seen.specs[generation.spec_version]

    def readable(self, generation: Generation) -> bool:
        """Whether this release can read the spec that a generation is bound to.

        If not, no task of it can be started here; those that run have their spec from before.
        """
        return generation.spec_version in self.seen.specs

    def completion_timeout(self, generation: Generation) -> timedelta:
        """How long a task that finishes may stand still; of an unread spec, as the newest says."""
        newest = self.seen.current.spec
        spec = self.governing_spec(generation) if self.readable(generation) else newest
        return COMPLETION_TIMEOUT if spec is None else spec.io_config.completion_timeout

    def outdated(self, generation: Generation) -> str | None:
        """Return the first field for which the newest spec asks for other tasks; None: for none.

        Empty if its own version cannot be read here.  taskCount is not told: see `fits`.
        """
        return self._outdated.get(generation.spec_version, "")

    @cached_property
    def _outdated(self) -> dict[int, str | None]:
        """Spec version -> the first field for which its tasks have to end; None: there is none."""
        current = self.seen.current.spec
        if current is None:
            return {}
        return {v: compare(s, current).needs_other_tasks for v, s in self.seen.specs.items()}
