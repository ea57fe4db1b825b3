"""Act: carry a plan out and decide nothing.

Each action is one transaction under the leader's term; repeated, or late, it finds its work done
and does nothing.  The plan is stored before its actions: a crash leaves its reasons behind.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import assert_never

from supervisor.core.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    CommitInitialOffsets,
    DiscardGeneration,
    EndTask,
    FixEnd,
    OpenGeneration,
    Plan,
    ResumeReading,
    StartTask,
)
from supervisor.core.errors import StateMoved
from supervisor.core.model import (
    AuditEntry,
    Generation,
    GenerationState,
    Observed,
    StoredPlan,
    Task,
    TaskStatus,
)
from supervisor.core.plan import plan
from supervisor.endings import Endings
from supervisor.observe import Sources, observe
from supervisor.ports import Clock, Transaction
from tasks.offsets import TopicPartition

_ABOUT = ("task_id", "generation_id", "topic")


@dataclass(frozen=True)
class Shell:
    """What carrying out needs beside the snapshot's sources."""

    sources: Sources
    clock: Clock
    new_token: Callable[[], str]
    endings: Endings


@dataclass(frozen=True)
class Pass:
    """One pass: what was seen, what was decided."""

    seen: Observed
    decided: Plan


def make_pass(supervisor_id: str, shell: Shell, term: int) -> Pass | None:
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
    decided = plan(seen)
    if decided.actions:
        with shell.sources.store.leading(term) as tx:
            tx.plans.record(_stored(supervisor_id, now, term, decided))
    for action in decided.actions:
        _apply_once(action, seen, shell, term)
    return Pass(seen, decided)


def _apply_once(action: Action, seen: Observed, shell: Shell, term: int) -> None:
    try:
        with shell.sources.store.leading(term) as tx:
            apply(action, seen, tx, shell)
    except StateMoved:
        # Somebody was there first, between our look and this write: the next pass sees what is.
        return


def apply(action: Action, seen: Observed, tx: Transaction, shell: Shell) -> None:
    """Carry out one action in the caller's transaction.

    Raises:
        StateMoved: the rows are not as the plan saw them; nothing of the action is done.
    """
    supervisor_id, now = seen.current.supervisor_id, seen.now
    match action:
        case CommitInitialOffsets():
            if tx.offsets.initialise(supervisor_id, action.topic_id, action.offsets):
                _audit(tx, seen, "initial-offsets", action.topic, action.why)
        case OpenGeneration():
            _open(action, seen, tx)
        case StartTask():
            _start(action, seen, tx, shell.new_token())
        case EndTask(task_id, succeeded, why, lost):
            status = TaskStatus.SUCCESS if succeeded else TaskStatus.FAILED
            if (task := tx.tasks.get(task_id)) is not None:
                shell.endings.end(tx, task, status, why, now, lost=lost)
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
            _close(tx, shell.endings, generation_id, GenerationState.EMPTY, why=why, now=now)
        case DiscardGeneration():
            _discard(action, seen, tx, shell.endings)
        case _:
            assert_never(action)


def _open(action: OpenGeneration, seen: Observed, tx: Transaction) -> None:
    supervisor_id = seen.current.supervisor_id
    committed = tx.offsets.of(supervisor_id)
    epochs = {p: committed[p].reset_epoch for p in action.start if p in committed}
    if epochs != {p: action.reset_epochs.get(p, 0) for p in action.start}:
        raise StateMoved(f"the offsets that {action.generation_id} starts from were reset")
    tx.generations.open(supervisor_id, _data_source(seen), action, seen.now)


def _data_source(seen: Observed) -> str:
    spec = seen.current.spec or next(iter(seen.specs.values()))
    return spec.data_source


def _start(action: StartTask, seen: Observed, tx: Transaction, token: str) -> None:
    generation = tx.generations.get(action.generation_id)
    if generation is None or not generation.live:
        raise StateMoved(f"{action.generation_id} has ended")
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


def _close(
    tx: Transaction,
    endings: Endings,
    generation_id: str,
    state: GenerationState,
    *,
    why: str,
    now: datetime,
) -> None:
    """End a generation and its tasks together: no task of an ended generation runs on."""
    if not tx.generations.close(generation_id, state, now):
        raise StateMoved(f"{generation_id} has ended")
    status = TaskStatus.SUCCESS if state is GenerationState.EMPTY else TaskStatus.FAILED
    for task in tx.tasks.of_generations([generation_id]):
        if task.active:
            endings.end(tx, task, status, why, now)


def _discard(action: DiscardGeneration, seen: Observed, tx: Transaction, endings: Endings) -> None:
    """Give a range up with every later one that shares a partition, transitively (P16)."""
    first = tx.generations.get(action.generation_id)
    if first is None or not first.live:
        raise StateMoved(f"{action.generation_id} has ended")
    why, given_up = action.why, set[TopicPartition]()
    for generation in tx.generations.live(first.supervisor_id):
        later = generation.ordinal > first.ordinal and not given_up.isdisjoint(generation.start)
        if generation.id != first.id and not later:
            continue
        given_up.update(generation.start)
        _close(tx, endings, generation.id, GenerationState.DISCARDED, why=why, now=seen.now)
        _audit(tx, seen, "discard", generation.id, why)
        why = f"it follows {first.id}, which was discarded"


def end_siblings(
    tx: Transaction, endings: Endings, generation: Generation, winner: str, now: datetime
) -> None:
    """End the other replicas of a published generation as SUCCESS: they did their work."""
    for task in tx.tasks.of_generations([generation.id]):
        if task.active and task.id != winner:
            endings.end(tx, task, TaskStatus.SUCCESS, f"{winner} published the range", now)


def _audit(tx: Transaction, seen: Observed, what: str, subject: str, why: str) -> None:
    detail = {"supervisor": seen.current.supervisor_id, "why": why}
    tx.audit.write(AuditEntry(seen.now, "overlord", what, subject, detail))


def _stored(supervisor_id: str, now: datetime, term: int, decided: Plan) -> StoredPlan:
    return StoredPlan(supervisor_id, now, term, tuple(describe(a) for a in decided.actions))


def describe(action: Action) -> dict[str, str]:
    """Return an action as it is stored and shown: its name, what it is about, and why."""
    named = {f.name for f in fields(action)}
    about = next((str(getattr(action, name)) for name in _ABOUT if name in named), "")
    return {"action": type(action).__name__, "about": about, "why": action.why}
