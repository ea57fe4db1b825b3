"""The start rule: which replicas are missing, and on which worker and when each one starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.model.rows import SLOT_TAKEN, Generation, GenerationState, Task, TaskStatus
from supervisor.core.planning.actions import EndTask, StartTask
from supervisor.core.planning.observed import Observed, WorkerView
from supervisor.core.planning.placement import Slots
from supervisor.core.planning.rules.continuity import may_start
from supervisor.core.planning.rules.surplus_replicas import spare_replicas
from supervisor.core.planning.view import PassView
from supervisor.core.spec.spec import schema_digest
from supervisor.core.values import ids
from supervisor.core.values.clock_skew import is_over


@dataclass
class _Short:
    """A generation that lacks replicas: missing numbers, and the workers of present replicas."""

    generation: Generation
    missing: list[int]
    beside: set[str]

    @property
    def publishing(self) -> bool:
        return self.generation.state is GenerationState.PUBLISHING


class Starts:
    """Gives each live generation its replicas, oldest generation first (P18).

    Each generation gets its first replica before any gets its second one, because a range without a
    reader is more urgent than a range without a second reader.
    """

    def __init__(self, view: PassView, slots: Slots, ended: set[str], *, closing: set[str]) -> None:
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
        """Start missing replicas that may start now; end tasks that have to free their slots."""
        if self._seen.current.terminated:
            return  # running tasks may finish, no task is started (P19)
        short = [
            self._short(generation)
            for generation in self._seen.generations
            if generation.id not in self._closing
            and self._view.readable(generation)
            and may_start(self._seen, generation)
        ]
        self.needed = sum(len(one.missing) for one in short if not one.publishing)
        for one in short:
            if one.missing and not one.beside:
                yield from self._start(one, one.missing.pop(0))
        for one in short:
            for replica in one.missing:
                yield from self._start(one, replica)

    def _short(self, generation: Generation) -> _Short:
        replicas = self._view.governing_spec(generation).io_config.replicas
        active = {t.replica: t for t in self._seen.tasks if t.generation_id == generation.id}
        publishing = generation.state is GenerationState.PUBLISHING
        beside = {t.worker_id for t in active.values()}
        if publishing and any(t.id not in self._ended for t in active.values()):
            return _Short(generation, [], beside)  # one replica can publish a fixed range
        wanted = (1 if publishing else replicas) - len(active)
        missing = [n for n in range(replicas) if n not in active][: max(0, wanted)]
        return _Short(
            generation, [n for n in missing if not self._too_early(generation, n)], beside
        )

    def _start(self, one: _Short, replica: int) -> Iterator[EndTask | StartTask]:
        worker = self._slots.take(one.beside, needs_slot=not one.publishing)
        if worker is None and not one.beside and not one.publishing:
            room = self._room_for(one.generation)
            if room is not None:
                task, worker, why = room
                self._ended.add(task.id)
                yield EndTask(task.id, succeeded=False, why=why, lost=True)
        if worker is None:
            self.unplaced = True
            return
        one.beside.add(worker.id)
        yield self._task(one.generation, replica, worker)

    def _room_for(self, generation: Generation) -> tuple[Task, WorkerView, str] | None:
        """Choose the task whose slot goes to a generation that has no replica.

        A task whose range another replica reads too is chosen first, because its end costs no
        progress.  Otherwise the youngest task of a younger generation is chosen.  No slot is freed
        for a generation whose own tasks fail, because each of its tries would stop other work.
        """
        workers = {w.id: w for w in self._seen.workers if w.takes_tasks}
        reading = [
            g
            for g in reversed(self._seen.generations)
            if g.state is GenerationState.READING and g.id not in self._closing
        ]
        for task in spare_replicas(self._view, reading, self._ended):
            if task.worker_id in workers:
                why = f"{SLOT_TAKEN}range {generation.id}, which no task reads"
                return task, workers[task.worker_id], why
        lasts = [t for (g, _), t in self._seen.last_attempts.items() if g == generation.id]
        if any(last.status is TaskStatus.FAILED and not last.lost for last in lasts):
            return None
        for other in reading:
            mine = [t for t in self._seen.tasks if t.generation_id == other.id]
            for task in sorted(mine, key=lambda task: task.replica, reverse=True):
                younger = other.ordinal > generation.ordinal
                if younger and task.id not in self._ended and task.worker_id in workers:
                    why = (
                        f"{SLOT_TAKEN}range {generation.id}, which is older and which no task reads"
                    )
                    return task, workers[task.worker_id], why
        return None

    def _task(self, generation: Generation, replica: int, worker: WorkerView) -> StartTask:
        last = self._seen.last_attempts.get((generation.id, replica))
        attempt = 1 if last is None else last.attempt + 1
        spec = self._seen.specs[generation.spec_version]
        base = ids.base_sequence_name(
            generation.supervisor_id, schema_digest(spec), generation.start
        )
        return StartTask(
            task_id=ids.task_id(base, generation.id, replica, attempt),
            generation_id=generation.id,
            replica=replica,
            attempt=attempt,
            worker_id=worker.id,
            incarnation=worker.incarnation,
            why="a replica is missing" if last is None else f"replaces {last.id}: {last.reason}",
        )

    def _too_early(self, generation: Generation, replica: int) -> bool:
        last = self._seen.last_attempts.get((generation.id, replica))
        if last is None or last.status is not TaskStatus.FAILED or last.ended_at is None:
            return False
        if last.lost:
            return False  # `worker_timeout` has been waited for already
        wait = _backoff(self._seen, generation)
        if is_over(last.ended_at, wait, self._seen.now):
            return False
        self.wakes.append(last.ended_at + wait)
        return True


def _backoff(seen: Observed, generation: Generation) -> timedelta:
    """Return the wait: none after one failure; from the second failure in a row on it doubles.

    A success at a time ahead of our clock does not end the row of failures: then the failures of
    the range itself count.
    """
    failures = seen.failures_in_a_row or seen.failed_attempts.get(generation.id, 0)
    if failures <= 1:
        return timedelta(0)
    exponent = min(failures - 2, 20)
    return min(seen.limits.backoff_max, seen.limits.backoff_first * float(2**exponent))
