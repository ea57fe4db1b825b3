"""Which replicas are missing, and where and when each is started."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from supervisor.core import names
from supervisor.core.actions import EndTask, StartTask
from supervisor.core.continuity import may_start
from supervisor.core.model import (
    Generation,
    GenerationState,
    Liveness,
    Observed,
    Task,
    TaskStatus,
    WorkerView,
)
from supervisor.core.placement import Slots
from supervisor.core.spec import schema_digest
from supervisor.core.view import View


class Starts:
    """Gives each live generation its replicas, oldest generation first (P18)."""

    def __init__(self, view: View, slots: Slots, ended: set[str], *, closing: set[str]) -> None:
        self._view = view
        self._seen = view.seen
        self._slots = slots
        self._ended = ended
        self._closing = closing
        self.free = slots.free
        self.needed = 0
        self.unplaced = False
        self.wakes: list[datetime] = []

    def start_missing_replicas(self) -> Iterator[EndTask | StartTask]:
        """Start what is missing and may start now; end what has to make room for it."""
        if self._seen.current.terminated:
            return  # what runs may finish, nothing new starts (P19)
        for generation in self._seen.generations:
            if generation.id not in self._closing and may_start(self._seen, generation):
                yield from self._of(generation)

    def _of(self, generation: Generation) -> Iterator[EndTask | StartTask]:
        replicas = self._view.terms(generation).io_config.replicas
        active = {t.replica: t for t in self._seen.tasks if t.generation_id == generation.id}
        publishing = generation.state is GenerationState.PUBLISHING
        if publishing and any(t.id not in self._ended for t in active.values()):
            return  # one replica is enough to publish what is fixed
        beside = {t.worker_id for t in active.values()}
        missing = (1 if publishing else replicas) - len(active)
        for replica in [n for n in range(replicas) if n not in active][: max(0, missing)]:
            if self._too_early(generation, replica):
                continue
            self.needed += 0 if publishing else 1
            worker = self._slots.take(beside, needs_slot=not publishing)
            if worker is None and not beside and not publishing:
                room = next(self._youngest_after(generation), None)
                if room is not None:
                    task, worker = room
                    yield self._ended_for(generation, task)
            if worker is None:
                self.unplaced = True
                continue
            beside.add(worker.id)
            yield self._start(generation, replica, worker.id, worker.incarnation)

    def _youngest_after(self, generation: Generation) -> Iterator[tuple[Task, WorkerView]]:
        """Yield reading tasks of younger generations with their workers, the youngest first.

        None for a generation whose own tasks fail: each of its tries would stop another's work.
        """
        lasts = [t for (g, _), t in self._seen.last_attempts.items() if g == generation.id]
        if any(last.status is TaskStatus.FAILED and not last.lost for last in lasts):
            return
        workers = {
            w.id: w for w in self._seen.workers if w.liveness is Liveness.ALIVE and not w.stopping
        }
        younger = [
            g
            for g in self._seen.generations
            if g.ordinal > generation.ordinal
            and g.state is GenerationState.READING
            and g.id not in self._closing
        ]
        for other in reversed(younger):
            mine = [t for t in self._seen.tasks if t.generation_id == other.id]
            for task in sorted(mine, key=lambda task: task.replica, reverse=True):
                if task.id not in self._ended and task.worker_id in workers:
                    yield task, workers[task.worker_id]

    def _ended_for(self, generation: Generation, task: Task) -> EndTask:
        self._ended.add(task.id)
        why = f"its slot goes to {generation.id}, which is older and has no replica"
        return EndTask(task.id, succeeded=False, why=why, lost=True)

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
