"""I6, I9 and the order of orders: what the tasks of live workers may never be in."""

from collections.abc import Iterator

from tasks.contract.messages import FailureCode, RunState, TaskPhase
from tasks.machine.state import TaskState
from tests.simulation.checkers.database import Part, Rows
from tests.simulation.checkers.ledger import Ledger, Seen, Watched, WorkerSeen

PAUSE_SLACK_S = 2.0
"""How late the alarm of a worker that runs may be."""
_AT_ITS_END = {TaskPhase.PUBLISHING, TaskPhase.WAITING}


def workers_keep_the_protocol(ledger: Ledger, now: Rows, world: Watched) -> Iterator[str]:
    """Look at every task of every worker that can act."""
    at = world.clock.monotonic()
    for worker in world.workers:
        if not worker.alive:
            continue
        for task_id, task in worker.tasks.items():
            state = task.state
            key = (worker.id, worker.incarnation, task_id)
            seen = ledger.tasks.setdefault(key, Seen(state.order.rank))
            yield from _orders(task_id, state, seen)
            yield from _ends(task_id, state, seen, now)
            yield from _verdict(task_id, state, now)
            yield from _pauses(task_id, state, seen, worker=worker, at=at)


def _orders(task_id: str, state: TaskState, seen: Seen) -> Iterator[str]:
    if state.order.rank < seen.rank:
        yield f"I5 {task_id}: after the order {seen.rank} it obeys {state.order.rank}"
    if state.order.rank != seen.rank:
        seen.paused_since = None
    seen.rank = max(seen.rank, state.order.rank)


def _ends(task_id: str, state: TaskState, seen: Seen, now: Rows) -> Iterator[str]:
    row = now.tasks.get(task_id)
    if row is None:
        yield f"P23 {task_id} runs without a row"
        return
    if seen.end is not None and state.end != seen.end:
        yield f"I6 {task_id}: its end {dict(seen.end)} was changed to {state.end}"
    seen.end = state.end
    if state.end is None:
        return
    ranges = now.ranges.get(row.generation, {})
    fixed = {part: r.end for part, r in ranges.items()}
    task_end = {Part(row.supervisor, *tp): offset for tp, offset in state.end.items()}
    if any(end is None for end in fixed.values()):
        yield f"I6 {task_id} was told an end that is not persisted"
    elif fixed and task_end != fixed:
        yield f"I6 {task_id} ends at {list(task_end.values())}, its range at {list(fixed.values())}"
    if state.phase in _AT_ITS_END and dict(state.position) != dict(state.end):
        yield f"I6 {task_id} publishes, and its journal ends at another offset than its range"


def _verdict(task_id: str, state: TaskState, now: Rows) -> Iterator[str]:
    """I7: whose range is published, by itself or by a sibling, is not told that it failed."""
    row = now.tasks.get(task_id)
    if row is None or state.phase is not TaskPhase.FAILED or state.failure is None:
        return
    refused = state.failure.code is FailureCode.REFUSED and row.generation in now.publications
    if row.published or (refused and row.status == "SUCCESS"):
        yield f"I7 {task_id} says it failed, its range is published: {state.failure.detail}"


def _pauses(
    task_id: str, state: TaskState, seen: Seen, *, worker: WorkerSeen, at: float
) -> Iterator[str]:
    if state.end is not None and state.paused_until is not None and not state.over:
        yield f"I9 {task_id} is paused though its end is fixed"
    waits = state.paused_until is not None and state.order.state is RunState.PAUSE
    if not waits or state.over:
        seen.paused_since = None
        return
    if seen.paused_since is None or worker.frozen:
        seen.paused_since = at
        return
    lease = state.order.pause_lease.total_seconds()
    if at - seen.paused_since > lease + PAUSE_SLACK_S:
        yield f"I9 {task_id} is paused for {at - seen.paused_since:.1f} s, its lease is {lease:g} s"
