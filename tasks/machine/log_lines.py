"""Log lines of a task, as a pure function: (state, event, state) -> lines.

A line names offsets, numbers and reasons.  It never has content of a record, and no secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tasks.contract.messages import DesiredTask, Order, RunState, TaskPhase
from tasks.contract.offsets import count
from tasks.machine.events import (
    Answered,
    Broke,
    Event,
    JobDropped,
    Journaled,
    LookFailed,
    Merged,
    StopRequested,
    TailDropped,
    Unanswered,
)
from tasks.machine.state import Merging, ReadWork, TaskState, shortened, written

INFO: Final = 20
WARNING: Final = 30
ERROR: Final = 40
"""Levels as `logging` numbers them, which a pure module does not import."""

Fact = str | int | bool


@dataclass(frozen=True)
class Line:
    """One log line: its level, its event, and the facts of the event."""

    level: int
    event: str
    facts: Mapping[str, Fact] = field(default_factory=dict)


def about(task: DesiredTask) -> dict[str, Fact]:
    """Return the facts that every log line of a task has."""
    return {
        "supervisor": task.supervisor_id,
        "data_source": task.spec.data_source,
        "generation": task.generation_id,
        "group": task.group,
        "replica": task.replica,
        "attempt": task.attempt,
        "task": task.task_id,
    }


def begun(state: TaskState) -> list[Line]:
    """Return the lines for the start of a task, or for the reason why the task did not start."""
    task, spec = state.task, state.task.spec
    facts: dict[str, Fact] = {
        "topics": ", ".join(sorted({topic for topic, _ in task.start})),
        "brokers": spec.kafka.bootstrap_servers,
        "columns": len(spec.columns),
        "discovery": spec.discovery.value,
        "start": written(task.start),
    }
    if task.bound is not None:
        facts["bound"] = written(task.bound)
    if state.end is not None:
        facts["end"] = written(state.end)
    lines = [Line(INFO, "the task begins", facts)]
    if task.taken_up and state.failure is None:
        found: dict[str, Fact] = {"batches": len(state.entries), "at": written(state.position)}
        lines.append(Line(INFO, "it goes on from its journal", found))
    return lines + _ended(state) if state.terminal else lines


def lines_for(before: TaskState, event: Event, after: TaskState) -> list[Line]:
    """Return the lines for the changes of one step that people look for later."""
    if before.over:
        return []
    lines = _ordered(before.order, after)
    lines += _answered(before, event, after)
    if after.phase is not before.phase:
        lines += _phase(after)
    if isinstance(after.busy, Merging) and not isinstance(before.busy, Merging):
        files = sum(len(entry.files) for entry in after.entries)
        lines.append(Line(INFO, "it merges", {"batches": len(after.entries), "files": files}))
    if after.stopped and not before.stopped:
        lines.append(Line(INFO, "it has stopped; its journal stays", {"at": _at(after)}))
    return lines


def _ordered(before: Order, after: TaskState) -> list[Line]:
    order = after.order
    if order.rank <= before.rank or (order.state, order.end) == (before.state, before.end):
        return []
    facts: dict[str, Fact] = {"order": f"{order.term}/{order.sequence}"}
    if order.end is not None:
        return [Line(INFO, "its end is fixed", facts | {"end": written(order.end)})]
    if order.state is RunState.PAUSE:
        lease = order.pause_lease.total_seconds()
        return [Line(INFO, "it is to pause", facts | {"lease_s": f"{lease:g}"})]
    return [Line(INFO, "it is to read on", facts)]


def _answered(before: TaskState, event: Event, after: TaskState) -> list[Line]:
    match event:
        case Journaled():
            return [_batch(after)]
        case JobDropped(trouble=trouble) if trouble or after.note != before.note:
            facts: dict[str, Fact] = {"why": shortened(trouble or after.note)}
            return [Line(WARNING, "a job was given up, and is done again", facts)]
        case JobDropped() if isinstance(before.busy, ReadWork):
            return [Line(INFO, "a batch was cancelled", {"rows": before.busy.rows})]
        case LookFailed(reason=reason) if after.note != before.note:
            return [Line(WARNING, "Kafka does not answer", {"why": shortened(reason)})]
        case TailDropped():
            gone = len(before.entries) - len(after.entries)
            return [Line(INFO, "batches beyond the end were dropped", {"batches": gone})]
        case Merged(result=result):
            rows = sum(segment.rows for segment in result.segments)
            files: dict[str, Fact] = {"files": len(result.segments), "rows": rows}
            if result.rejects is not None:
                files["rejected"] = result.rejects.records
            return [Line(INFO, "its segments are written", files)]
        case Answered(answer=answer) if after.note != before.note or after.over:
            outcome: dict[str, Fact] = {"outcome": answer.outcome.value, "why": answer.reason}
            return [Line(INFO, "it asked to publish", outcome)]
        case Unanswered(reason=reason) if before.tries == 0:
            unheard: dict[str, Fact] = {"why": shortened(reason)}
            return [Line(WARNING, "no overlord answers its request to publish", unheard)]
        case StopRequested() if not before.stopping:
            return [Line(INFO, "it is to stop: its worker ends, or it is wanted no more")]
        case Broke(code=code, detail=detail) if not after.terminal:
            return [Line(WARNING, "something failed", {"code": code.value, "why": detail})]
        case _:
            return []


def _batch(after: TaskState) -> Line:
    entry = after.entries[-1]
    counted = entry.counters
    facts: dict[str, Fact] = {
        "batch": entry.number,
        "from": written(entry.start),
        "to": written(entry.end),
        "offsets": count(entry.start, entry.end),
        "rows": counted.processed,
        "ms": round(after.batch_seconds * 1000),
    }
    rest = {
        "unparseable": counted.unparseable,
        "with_error": counted.processed_with_error,
        "thrown_away": counted.thrown_away,
    }
    return Line(INFO, "a batch is journaled", facts | {k: v for k, v in rest.items() if v})


def _phase(after: TaskState) -> list[Line]:
    match after.phase:
        case TaskPhase.READING:
            why: dict[str, Fact] = {"why": after.lease_note} if after.lease_note else {}
            return [Line(INFO, "it reads", {"at": _at(after)} | why)]
        case TaskPhase.PAUSED:
            return [Line(INFO, "it has paused", {"at": _at(after)})]
        case TaskPhase.FINISHING:
            return [Line(INFO, "it reads to its end", {"at": _at(after)})]
        case TaskPhase.WAITING:
            return [Line(INFO, "it waits for its turn to publish", {"why": after.note})]
        case TaskPhase.SUCCESS | TaskPhase.FAILED:
            return _ended(after)
        case TaskPhase.STARTING | TaskPhase.PUBLISHING:
            return []


def _ended(state: TaskState) -> list[Line]:
    counters = state.counters
    facts: dict[str, Fact] = {
        "rows": counters.processed,
        "batches": counters.batches,
        "at": _at(state),
    }
    if state.failure is None:
        return [Line(INFO, "the task has succeeded", facts | {"why": state.note})]
    why: dict[str, Fact] = {"code": state.failure.code.value, "why": state.failure.detail}
    return [Line(ERROR, "the task has failed", why | facts)]


def _at(state: TaskState) -> str:
    return written(state.position)
