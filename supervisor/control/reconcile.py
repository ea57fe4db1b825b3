"""Act: carry out a plan and decide nothing.

Each action is one transaction under the leader's term.  A repeated or late action finds its work
done and does nothing.  The plan is stored before its actions, so that its reasons survive a crash.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import assert_never

from supervisor.control.discard import Cause, begin_offsets, close, discard, move_offsets
from supervisor.control.end_task import TaskEnder
from supervisor.control.observe import Sources, observe
from supervisor.core.model.rows import (
    AuditEntry,
    Generation,
    GenerationState,
    StoredPlan,
    Task,
    TaskStatus,
)
from supervisor.core.planning.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    FixEnd,
    OpenGeneration,
    Plan,
    ResetOffsets,
    ResumeReading,
    StartTask,
)
from supervisor.core.planning.observed import Observed
from supervisor.core.planning.offset_ranges import chain_end
from supervisor.core.planning.passes import Pass
from supervisor.core.planning.plan import plan
from supervisor.core.values.errors import StaleCommit, StateMoved
from supervisor.ports.clock import Clock
from supervisor.ports.store import Transaction

_ABOUT = ("task_id", "generation_id", "topic")


@dataclass(frozen=True)
class ActionContext:
    """The dependencies of the actions, beside the sources of the snapshot."""

    sources: Sources
    clock: Clock
    new_token: Callable[[], str]
    endings: TaskEnder
    failpoint: Callable[[str], None] = lambda _: None
    """Called with each named step; a test may end the process there (failpoints)."""


def make_pass(supervisor_id: str, shell: ActionContext, term: int) -> Pass | None:
    """Make one pass over one supervisor; None if its id was never used.

    Safe to crash at any line.

    Raises:
        LeaseLost: another overlord leads; nothing more may be written.
        Unavailable: the metadata database did not answer; the next pass tries again.
    """
    now = shell.clock.now()  # the only read of the clock in a pass
    seen = observe(supervisor_id, shell.sources, now)
    if seen is None:
        return None
    shell.sources.workers.reads(supervisor_id, seen.tasks)
    decided = plan(seen)
    if decided.actions:
        with shell.sources.store.leading(term) as tx:
            tx.plans.record(_stored(supervisor_id, now, term, decided))
    for action in decided.actions:
        _apply_once(action, seen, shell, term)
    shell.sources.workers.watch(supervisor_id, decided.milestones)
    return Pass(seen, decided)


def _apply_once(action: Action, seen: Observed, shell: ActionContext, term: int) -> None:
    name = type(action).__name__
    shell.failpoint(f"before:{name}")
    if isinstance(action, StartTask):
        shell.sources.workers.starts(action.task_id, action.worker_id, term)
    try:
        with shell.sources.store.leading(term) as tx:
            apply(action, seen, tx, shell)
            shell.failpoint(f"in:{name}")
    except (StateMoved, StaleCommit):
        # The rows changed between our read and this write: the next pass reads them anew.
        return
    shell.failpoint(f"after:{name}")


def apply(action: Action, seen: Observed, tx: Transaction, shell: ActionContext) -> None:
    """Carry out one action in the caller's transaction.

    Raises:
        StateMoved: the rows are not as the plan saw them; nothing of the action is done.
    """
    now = seen.now
    match action:
        case CommitInitialOffsets():
            _initialise(action, seen, tx)
        case OpenGeneration():
            _open(action, seen, tx)
        case StartTask():
            _start(action, seen, tx, shell.new_token())
        case EndTask():
            _end(action, seen, tx, shell.endings)
        case BeginHandoff(generation_id, sequence, must_end, why):
            tx.generations.begin_handoff(
                generation_id, sequence, must_end=must_end, why=why, now=now
            )
        case ResumeReading(generation_id, sequence, restart_timer):
            tx.generations.resume(generation_id, sequence, restart_timer=restart_timer, now=now)
        case FixEnd():
            if tx.generations.fix_end(action, now) and action.successor is not None:
                _open(action.successor, seen, tx)
        case CloseEmpty(generation_id, sequence, why):
            found = tx.generations.get(generation_id)
            if found is None or found.sequence != sequence:
                raise StateMoved(f"{generation_id} has a newer order")
            if not close(tx, shell.endings, generation_id, GenerationState.EMPTY, why=why, now=now):
                raise StateMoved(f"{generation_id} has ended")
        case DiscardGeneration():
            _discard(action, seen, tx, shell.endings)
        case ResetOffsets():
            _reset(action, seen, tx, shell.endings)
        case _:
            assert_never(action)


def _initialise(action: CommitInitialOffsets, seen: Observed, tx: Transaction) -> None:
    newest = tx.specs.newest(seen.current.supervisor_id)
    if newest is None or newest.version != seen.current.version:
        raise StateMoved(f"{seen.current.supervisor_id} has another spec now, or none")
    cause = Cause("overlord", "initial-offsets", action.why, seen.now)
    begin_offsets(tx, newest.supervisor_id, action.topic_ids, action.offsets, cause)
    _audit(tx, seen, cause.action, action.topic, action.why)


def _open(action: OpenGeneration, seen: Observed, tx: Transaction) -> None:
    supervisor_id = seen.current.supervisor_id
    committed = tx.offsets.of(supervisor_id)
    epochs = {p: committed[p].reset_epoch for p in action.start if p in committed}
    if epochs != {p: action.reset_epochs.get(p, 0) for p in action.start}:
        raise StateMoved(f"the offsets that {action.generation_id} starts from were reset")
    live = tx.generations.live(supervisor_id)
    for partition, start in action.start.items():
        at = chain_end(live, partition, committed[partition].next_offset)
        if at != start:  # a range before it was discarded meanwhile
            raise StateMoved(
                f"{action.generation_id} starts at {start} of {partition}, not at {at}"
            )
    tx.generations.open(supervisor_id, _data_source(seen), action, seen.now)


def _data_source(seen: Observed) -> str:
    spec = seen.current.spec or next(iter(seen.specs.values()))
    return spec.data_source


def _start(action: StartTask, seen: Observed, tx: Transaction, token: str) -> None:
    generation = tx.generations.get(action.generation_id)
    if generation is None or not generation.live:
        raise StateMoved(f"{action.generation_id} has ended")
    # Alone: a pass over another supervisor may count the same free slot at the same time.
    if not tx.workers.holds(action.worker_id, action.incarnation, alone=True):
        # A registering worker takes up the tasks of its rows (P7).  A task inserted after that
        # would belong to an incarnation that may not publish.
        raise StateMoved(f"worker {action.worker_id} has registered anew")
    if not tx.workers.takes_tasks(action.worker_id):
        raise StateMoved(f"worker {action.worker_id} was disabled")
    if generation.open and not _has_slot(action, seen, tx):
        raise StateMoved(f"worker {action.worker_id} has no free slot any more")
    tx.tasks.start(
        Task(
            id=action.task_id,
            supervisor_id=generation.supervisor_id,
            data_source=generation.data_source,
            generation_id=generation.id,
            replica=action.replica,
            attempt=action.attempt,
            worker_id=action.worker_id,
            incarnation=action.incarnation,
            token=token,
            status=TaskStatus.RUNNING,
            created_at=seen.now,
        )
    )


def _has_slot(action: StartTask, seen: Observed, tx: Transaction) -> bool:
    slots = next((w.slots for w in seen.workers if w.id == action.worker_id), 0)
    return tx.tasks.slots_in_use().get(action.worker_id, 0) < slots


def _end(action: EndTask, seen: Observed, tx: Transaction, endings: TaskEnder) -> None:
    task = tx.tasks.get(action.task_id)
    if task is None:
        return
    status = TaskStatus.SUCCESS if action.succeeded else TaskStatus.FAILED
    ended = endings.end(tx, task, status, action.why, seen.now, lost=action.lost)
    if ended and action.alert:
        _audit(tx, seen, "alert", task.id, action.why)


def _discard(
    action: DiscardGeneration, seen: Observed, tx: Transaction, endings: TaskEnder
) -> None:
    """Discard a range with every later one that shares a partition, transitively (P16)."""
    first = tx.generations.get(action.generation_id)
    if first is None or not first.live:
        raise StateMoved(f"{action.generation_id} has ended")
    cause = Cause("overlord", "discard", action.why, seen.now)
    discard(tx, endings, first.supervisor_id, cause, generation_id=first.id)


def _reset(action: ResetOffsets, seen: Observed, tx: Transaction, endings: TaskEnder) -> None:
    """Set unreadable offsets to the nearest readable ones, once however often it is applied."""
    supervisor_id = seen.current.supervisor_id
    rows = tx.offsets.of(supervisor_id)
    if any(rows.get(p) != seen.committed.get(p) for p in action.new.offsets):
        raise StateMoved(f"the offsets of {supervisor_id} have moved on")
    cause = Cause("overlord", "reset-automatically", action.why, seen.now)
    move_offsets(tx, endings, supervisor_id, action.new, cause)


def end_siblings(
    tx: Transaction, endings: TaskEnder, generation: Generation, winner: str, now: datetime
) -> None:
    """End the other replicas of a published generation as SUCCESS: they did their work."""
    for task in tx.tasks.of_generations([generation.id], active=True):
        if task.id != winner:
            endings.end(tx, task, TaskStatus.SUCCESS, f"{winner} published the range", now)


def _audit(tx: Transaction, seen: Observed, what: str, subject: str, why: str) -> None:
    detail = {"supervisor": seen.current.supervisor_id, "why": why}
    tx.audit.write(AuditEntry(seen.now, "overlord", what, subject, detail))


def _stored(supervisor_id: str, now: datetime, term: int, decided: Plan) -> StoredPlan:
    return StoredPlan(supervisor_id, now, term, tuple(describe(a) for a in decided.actions))


def describe(action: Action) -> dict[str, str]:
    """Return an action in its stored and shown form: its name, its subject, and the reason."""
    named = {f.name for f in fields(action)}
    about = next((str(getattr(action, name)) for name in _ABOUT if name in named), "")
    return {"action": type(action).__name__, "about": about, "why": action.why}
