"""Which worker a replica goes to, and how many partitions a group has."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from supervisor.core.model.rows import Generation, Task
from supervisor.core.planning.observed import WorkerView
from supervisor.core.values.counts import counted, grouped
from tasks.contract.offsets import TopicPartition


def layout(
    partitions: Iterable[TopicPartition], task_count: int, *, several_topics: bool = False
) -> dict[int, tuple[TopicPartition, ...]]:
    """Return group number -> its partitions: partition p belongs to group p mod taskCount.

    taskCount is capped by the number of partitions.  With several topics a topic's hash spreads
    its partitions; groups that get none are left out.

    Source: Druid's KafkaSupervisor.getTaskGroupIdForPartition.
    """
    ordered = sorted(partitions)
    groups: dict[int, list[TopicPartition]] = {}
    for partition in ordered:
        number = _spread(partition) if several_topics else partition.partition
        groups.setdefault(number % min(task_count, len(ordered)), []).append(partition)
    return {group: tuple(members) for group, members in sorted(groups.items())}


def _spread(partition: TopicPartition) -> int:
    """Java's `Math.abs(31 * topic.hashCode() + partition)`, in its 32 bits."""
    hashed = 0
    for sign in partition.topic:
        hashed = hashed * 31 + ord(sign)
    wrapped = (hashed * 31 + partition.partition) & 0xFFFF_FFFF
    return min(wrapped, 0x1_0000_0000 - wrapped)


def slots_for(
    workers: Iterable[WorkerView], ranges: Iterable[Generation], tasks: Iterable[Task]
) -> int:
    """Return the slots that workers have for a supervisor: those of its own tasks, and free ones.

    `ranges`, `tasks`: the live ones of the supervisor.  A task that publishes has no slot.
    """
    able = {worker.id: worker for worker in workers if worker.takes_tasks}
    free = sum(max(0, worker.slots - worker.used_slots) for worker in able.values())
    open_ranges = {each.id for each in ranges if each.open}
    return free + sum(t.worker_id in able and t.generation_id in open_ranges for t in tasks)


def too_few_slots(tasks: int, replicas: int, slots: int) -> str:
    """Say what becomes of so many groups with so many replicas in `slots`; '': there are enough."""
    needed = tasks * replicas
    if needed <= slots:
        return ""
    groups = counted(tasks, "task group needs", "task groups need")
    if replicas > 1:
        groups = f"{counted(tasks, 'task group')} x {replicas} replicas need"
    if (unread := tasks - slots) > 0:
        without = f"nobody reads {f'{grouped(unread)} of them' if tasks > 1 else 'it'}"
    else:
        without = counted(needed - slots, "replica of them waits", "replicas of them wait")
    return (
        f"{groups} {counted(needed, 'slot')}, and workers have {grouped(slots)} for it: {without}, "
        "until another worker is started, or taskCount or replicas are lower"
    )


@dataclass
class Slots:
    """Free slots per worker while one plan is made: what it hands out is gone for the next."""

    workers: Sequence[WorkerView]

    def __post_init__(self) -> None:
        """Count what is free on workers that may take new tasks."""
        self._free = {w.id: max(0, w.slots - w.used_slots) for w in self.workers if w.takes_tasks}
        self._by_id = {w.id: w for w in self.workers}

    @property
    def free(self) -> int:
        """Slots that are left."""
        return sum(self._free.values())

    def take(self, beside: Collection[str], *, needs_slot: bool) -> WorkerView | None:
        """Choose a worker for a replica whose siblings run on the workers `beside`.

        Siblings go to different workers where there are several: only a lone worker gets two.
        A replica that reads to a fixed end needs no slot; the worker's finishing pool bounds it.
        """
        alone = set(self._free) <= set(beside)
        open_to = [
            name
            for name, free in self._free.items()
            if (free > 0 or not needs_slot) and (alone or name not in beside)
        ]
        if not open_to:
            return None
        chosen = max(open_to, key=lambda name: (self._free[name], name))
        if needs_slot:
            self._free[chosen] -= 1
        return self._by_id[chosen]
