"""Surplus replicas, which another replica of their range makes redundant: ended or spared."""

from collections.abc import Collection, Iterable, Iterator

from supervisor.core.model.rows import Generation, GenerationState, Task
from supervisor.core.planning.actions import EndTask
from supervisor.core.planning.observed import Liveness
from supervisor.core.planning.rules.handoff import ReplicaView
from supervisor.core.planning.view import PassView
from tasks.contract.messages import TaskPhase


def end_surplus_replicas(view: PassView, ended: Collection[str]) -> Iterator[EndTask]:
    """End the replicas that are furthest behind, the youngest first; the others read on.

    Replicas are ended only while enough others are known to read: a silent one may be lost.
    """
    for generation in view.seen.generations:
        if generation.state is GenerationState.READING and not view.ends_for_good(generation):
            yield from _surplus_of(view, generation, ended)


def spare_replicas(
    view: PassView, generations: Iterable[Generation], ended: Collection[str]
) -> Iterator[Task]:
    """Yield tasks that can be spared: all replicas but the best of each range known to be read.

    Tasks are in the order of `generations`; within one, the least valuable replica comes first.
    """
    for generation in generations:
        active = [r for r in view.replicas(generation) if r.task.id not in ended]
        best = sorted(active, key=_rank)
        if best and _reads(best[-1]):
            yield from (replica.task for replica in best[:-1])


def _surplus_of(
    view: PassView, generation: Generation, ended: Collection[str]
) -> Iterator[EndTask]:
    wanted = view.governing_spec(generation).io_config.replicas
    active = [r for r in view.replicas(generation) if r.task.id not in ended]
    if len(active) <= wanted:
        return
    best = sorted(active, key=_rank, reverse=True)
    if not all(_reads(replica) for replica in best[:wanted]):
        return
    for replica in best[wanted:]:
        why = f"no longer wanted: replicas is {wanted} now"
        yield EndTask(replica.task.id, succeeded=True, why=why)


def _rank(replica: ReplicaView) -> tuple[bool, int, float, int]:
    """Return a replica's value: it reads, is far, is old, has a low number; higher is better."""
    position = {} if replica.report is None else replica.report.position
    age = -replica.task.created_at.timestamp()
    return _reads(replica), sum(position.values()), age, -replica.task.replica


def _reads(replica: ReplicaView) -> bool:
    if replica.liveness is not Liveness.ALIVE or replica.report is None:
        return False
    return replica.report.phase in {TaskPhase.READING, TaskPhase.PAUSED}
