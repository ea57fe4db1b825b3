"""Records of executions: how each attempt of a step ended, and the execution itself.  Pure.

    attempt-ended, step-ended without one ─► task_result of `<execution>/<step>`
    execution-ended ─► task_result, task_report and the log of the execution

A record is a function of what has ended, which no longer changes.  So one that is sent again, by
whichever leader, is the same record, and the store has it already.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, RunAttempt, StepError, TaskRun
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.history.execution_log import clean_text, execution_log
from tasks.reporting.levels import ReportLevels, TaskEnding
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.reporting.sizes import RecordLimits, fitted, spilled

__all__ = [
    "attempts_of",
    "end_records",
    "execution_report",
    "execution_result_id",
    "execution_subject",
    "oldest_first",
    "step_records",
    "step_subject",
]

RECORD_BYTES = 512 * 1024
"""Topics take records of a megabyte by default."""
_LIMITS = RecordLimits(RECORD_BYTES)
_CHUNK_BYTES = 64 * 1024
_FAILURES = 50
"""How many failed steps a result names."""
_SUBJECT = 256
_ORIGIN = RecordOrigin.EXECUTION
_GOOD = {"SUCCESS", "SKIPPED"}


def execution_subject(execution_id: str) -> str:
    """Return the subject of an execution's records: its id, or a shorter text for a long one."""
    return _bounded(execution_id)


def step_subject(execution_id: str, step: str) -> str:
    """Return the subject of the records of a step."""
    return _bounded(f"{execution_id}/{step}")


def execution_result_id(execution_id: str) -> str:
    """Return the id of the record that says how an execution ended."""
    return record_id_of(execution_subject(execution_id), 0, RecordType.TASK_RESULT, 0)


def step_records(
    execution: Execution, events: Sequence[ExecutionEvent], levels: ReportLevels
) -> Iterator[ReportRecord]:
    """Yield a record for each attempt of a step that these events end, as far as it is wanted."""
    for event in events:
        run = execution.runs.get(event.run)
        if run is None:
            continue
        number = event.about.get("attempt")
        attempt = next((each for each in run.attempts if each.number == number), None)
        over = event.name == "attempt-ended" and attempt is not None
        alone = event.name == "step-ended" and not run.attempts
        state = str(event.about.get("state"))
        if (over or alone) and _wanted(levels, state):
            yield from _sized(_of_step(execution, event, run, attempt), levels)


def end_records(
    execution: Execution, events: Sequence[ExecutionEvent], levels: ReportLevels
) -> Iterator[ReportRecord]:
    """Yield the log, the report and, last, the result of an execution that has ended.

    `events`: all of it.
    """
    if execution.ended_at is None or not _wanted(levels, execution.state):
        return
    yield from _log(execution, events)
    for kind, payload in (
        (RecordType.TASK_REPORT, _report(execution)),
        (RecordType.TASK_RESULT, _result(execution)),
    ):
        yield from _sized(_of_execution(execution, kind, payload), levels)


def execution_report(execution: Execution) -> dict[str, JsonValue]:
    """Return what a report says of an execution, as far as it is."""
    return _clean_members(_report(execution))


def attempts_of(execution: Execution, step: str) -> list[dict[str, JsonValue]]:
    """Return what results say of a step's attempts, and of those under way, oldest first.

    `step`: its name, or the id of a task run.  Each has its number as `attempt`: 0 for a step that
    has no attempts, once it has ended.
    """
    shown: list[dict[str, JsonValue]] = []
    for run in _in_order(execution):
        if step not in {run.step, run.id}:
            continue
        shown += (
            {"attempt": each.number, **_attempt(execution, run, each, each.state)}
            for each in run.attempts
        )
        if not run.attempts and run.ended_at is not None:
            shown.append({"attempt": 0, **_attempt(execution, run, None, run.state)})
    return oldest_first([_clean_members(each) for each in shown])


def oldest_first(attempts: list[dict[str, JsonValue]]) -> list[dict[str, JsonValue]]:
    """Return attempts as `attempts_of` has them by their beginnings, in the same order ever."""
    return sorted(attempts, key=lambda each: (str(each["createdAt"]), str(each["run"])))


def _sized(record: ReportRecord, levels: ReportLevels) -> Iterator[ReportRecord]:
    if levels.spills:
        return spilled(record, _LIMITS)
    return iter((fitted(record, _LIMITS),))


def _wanted(levels: ReportLevels, state: str) -> bool:
    return levels.wants(_ORIGIN, TaskEnding(succeeded=state in _GOOD), debug=False)


def _of_step(
    execution: Execution, event: ExecutionEvent, run: TaskRun, attempt: RunAttempt | None
) -> ReportRecord:
    state = str(event.about.get("state"))
    subject = step_subject(execution.id, run.step)
    number = 0 if attempt is None else attempt.number
    runner = attempt.runner.name if attempt is not None and attempt.runner is not None else None
    return ReportRecord(
        type=RecordType.TASK_RESULT,
        record_id=record_id_of(subject, number, RecordType.TASK_RESULT, event.number),
        subject=subject,
        attempt=number,
        origin=_ORIGIN,
        worker=None if runner is None else runner[:_SUBJECT],
        status=state,
        at=event.at,
        # Steps inside a `forEach` have a task run for each item, and attempts of the same number.
        seq=event.number,
        payload=_clean_members(_attempt(execution, run, attempt, state)),
    )


def _attempt(
    execution: Execution, run: TaskRun, attempt: RunAttempt | None, state: str
) -> dict[str, JsonValue]:
    error = run.error
    payload: dict[str, JsonValue] = {
        "execution": execution.id,
        "flow": execution.flow,
        "flowVersion": execution.plan.version,
        "step": run.step,
        "run": run.id,
        "item": run.scope.item,
        "state": state,
    }
    if attempt is None:
        payload |= _times(run.created_at, None, run.ended_at)
    else:
        error = attempt.error
        payload |= {"effect": attempt.effect}
        payload |= _times(attempt.submitted_at, attempt.began_at, attempt.ended_at)
    if state == StepState.SUCCESS:
        payload["outputs"] = dict(run.outputs)
    return payload | _error(error)


def _of_execution(
    execution: Execution, kind: RecordType, payload: dict[str, JsonValue]
) -> ReportRecord:
    assert execution.ended_at is not None, "only what has ended is reported"
    subject = execution_subject(execution.id)
    return ReportRecord(
        type=kind,
        record_id=record_id_of(subject, 0, kind, 0),
        subject=subject,
        origin=_ORIGIN,
        status=execution.state,
        at=execution.ended_at,
        seq=0,
        final=True,
        payload=_clean_members(payload),
    )


def _log(execution: Execution, events: Sequence[ExecutionEvent]) -> Iterator[ReportRecord]:
    assert execution.ended_at is not None, "only what has ended is reported"
    content = execution_log(execution, events)
    subject, kind, offset = execution_subject(execution.id), RecordType.LOG_CHUNK, 0
    while offset < len(content):
        end = min(offset + _CHUNK_BYTES, len(content))
        # Whole lines, where they fit; else whole characters.
        border = content.rfind(b"\n", offset, end) + 1
        end = end if end == len(content) else border or offset + _whole(content[offset:end])
        yield ReportRecord(
            type=kind,
            record_id=record_id_of(subject, 0, kind, offset),
            subject=subject,
            origin=_ORIGIN,
            at=execution.ended_at,
            offset=offset,
            final=end == len(content),
            payload={"text": content[offset:end].decode()},
        )
        offset = end


def _whole(part: bytes) -> int:
    """Return how many bytes of a part are whole characters."""
    return len(part.decode(errors="ignore").encode())


def _result(execution: Execution) -> dict[str, JsonValue]:
    states = Counter(str(each.state) for each in execution.runs.values())
    failures: list[JsonValue] = [
        {"step": each.step, "run": each.run, "at": _text(each.at), **_error(each.error)}
        for each in execution.failures[:_FAILURES]
    ]
    failed = execution.state is ExecutionState.FAILED
    return {
        "execution": execution.id,
        "flow": execution.flow,
        "flowVersion": execution.plan.version,
        "state": execution.state,
        "startedBy": execution.started_by,
        "trigger": dict(execution.trigger),
        "labels": dict(execution.labels),
        "parent": execution.parent,
        **_times(execution.created_at, execution.began_at, execution.ended_at),
        "steps": dict(states),
        "attempts": sum(len(each.attempts) for each in execution.runs.values()),
        "failures": failures,
        **({"error": execution.error} if failed else {}),
    }


def _report(execution: Execution) -> dict[str, JsonValue]:
    steps: list[JsonValue] = [_step(each) for each in _in_order(execution)]
    return {**_result(execution), "outputs": dict(execution.outputs), "steps": steps}


def _in_order(execution: Execution) -> list[TaskRun]:
    return sorted(execution.runs.values(), key=lambda each: (each.created_at, each.id))


def _step(run: TaskRun) -> JsonValue:
    ended = run.ended_at
    return {
        "step": run.step,
        "run": run.id,
        "item": run.scope.item,
        "state": run.state,
        "attempts": len(run.attempts),
        "createdAt": _text(run.created_at),
        "endedAt": None if ended is None else _text(ended),
        "kept": run.kept,
        **_error(run.error),
    }


def _times(
    created: datetime, began: datetime | None, ended: datetime | None
) -> dict[str, JsonValue]:
    """Return times, and how long it waited and ran, in milliseconds."""
    first = began or ended
    return {
        "createdAt": _text(created),
        "beganAt": None if began is None else _text(began),
        "endedAt": None if ended is None else _text(ended),
        "waitedMs": None if first is None else _ms(first - created),
        "ranMs": None if began is None or ended is None else _ms(ended - began),
    }


def _error(error: StepError | None) -> dict[str, JsonValue]:
    if error is None:
        return {}
    return {"error": error.message, "code": error.code, "passes": error.passes}


def _ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def _text(at: datetime) -> str:
    return at.isoformat()


def _bounded(text: str) -> str:
    if len(text) <= _SUBJECT:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
    return f"{text[: _SUBJECT - len(digest) - 1]}~{digest}"


def _clean_members(members: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {clean_text(name): _clean(each) for name, each in members.items()}


def _clean(value: JsonValue) -> JsonValue:
    """Return a value that every store takes; numbers that JSON does not have become texts."""
    match value:
        case dict():
            return _clean_members(value)
        case list():
            return [_clean(each) for each in value]
        case str():
            return clean_text(value)
        case float() if not math.isfinite(value):
            return str(value)
    return value
