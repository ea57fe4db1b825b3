"""The log of an execution, as text: a line for each of its events.  Pure.

2026-11-28T10:00:00.123456Z ERROR   step load[3]: attempt 2 ended FAILED at host-1: http_500: ...
────────── time ──────────  level   ───────────────── the line ──────────────────────────────────

It is a function of the events and of what they are about, which no longer changes: a later look
has the same lines, and more behind them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from supervisor.core.executions.entities import Execution, RunAttempt, StepError, TaskRun
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.core.executions.states import AttemptState, StepState

__all__ = ["LOG_BYTES", "clean_text", "execution_log", "execution_log_lines"]

LOG_BYTES = 4 * 1024 * 1024
"""Of a log: what comes behind them is left out, and the last line says so."""
_INFO, _WARNING, _ERROR = "INFO", "WARNING", "ERROR"
_BAD_ENDS = {AttemptState.FAILED, AttemptState.LOST}
_FULL = "the log is full: what happened later is among the events of the execution\n"


def execution_log(
    execution: Execution, events: Sequence[ExecutionEvent], step: str | None = None
) -> bytes:
    """Return the log of an execution as UTF-8.

    `step`: the lines of this step alone, by its name or by the id of a task run; None: all.
    """
    lines: list[bytes] = []
    size = 0
    for line in execution_log_lines(execution, events, step):
        text = line.encode()
        if size + len(text) > LOG_BYTES:
            lines.append(_line(events[-1].at, _WARNING, _FULL.rstrip()).encode())
            break
        lines.append(text)
        size += len(text)
    return b"".join(lines)


def execution_log_lines(
    execution: Execution, events: Sequence[ExecutionEvent], step: str | None = None
) -> Iterator[str]:
    """Yield the lines, each with its line end."""
    for event in events:
        run = execution.runs.get(event.run)
        if step is not None and (run is None or step not in {run.step, run.id}):
            continue
        level, text = _words_of(execution, event, run)
        yield _line(event.at, level, text)


def clean_text(text: str) -> str:
    """Return a text that every store takes: without NUL and halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _line(at: datetime, level: str, text: str) -> str:
    time = f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    # Further lines of a text are shifted to the right: none of them is taken for one of its own.
    shifted = "\n    ".join(clean_text(text).splitlines())
    return f"{time} {level:<7} {shifted}\n"


def _words_of(execution: Execution, event: ExecutionEvent, run: TaskRun | None) -> tuple[str, str]:
    if run is not None:
        return _words_of_run(event, run)
    about = event.about
    match event.name:
        case "execution-started":
            return _INFO, f"execution {execution.id} begins: version {about.get('version')}"
        case "state-changed":
            return _INFO, f"the execution is {about.get('state')}"
        case "execution-ended":
            state = about.get("state")
            level = {"FAILED": _ERROR, "KILLED": _WARNING}.get(str(state), _INFO)
            why = f": {execution.error}" if execution.error and level == _ERROR else ""
            return level, f"the execution has ended: {state}{why}"
    return _INFO, _in_words(event.name, about)


def _words_of_run(event: ExecutionEvent, run: TaskRun) -> tuple[str, str]:
    name = _named(run)
    attempt = _attempt(run, event.about.get("attempt"))
    match event.name:
        case "step-started":
            return _INFO, f"step {name} begins"
        case "attempt-started" if attempt is not None:
            return _INFO, f"step {name}: attempt {attempt.number} waits for a runner"
        case "attempt-claimed" if attempt is not None:
            return _INFO, f"step {name}: attempt {attempt.number} runs at {event.about['runner']}"
        case "attempt-ended" if attempt is not None:
            state = event.about.get("state")
            bad = state in _BAD_ENDS
            where = f" at {attempt.runner.name}" if attempt.runner is not None else ""
            why = f": {_why(attempt.error)}" if attempt.error is not None else ""
            text = f"step {name}: attempt {attempt.number} ended {state}{where}{why}"
            return _ERROR if bad else _INFO, text
        case "step-ended":
            failed = event.about.get("state") == StepState.FAILED
            # The end of an attempt has said it already.
            level = _ERROR if failed and not run.attempts else _INFO
            why = f": {_why(run.error)}" if failed and run.error is not None else ""
            return level, f"step {name} has ended: {event.about.get('state')}{why}"
    return _INFO, f"step {name}: {_in_words(event.name, event.about)}"


def _named(run: TaskRun) -> str:
    """Return a step's name, with the number of the item that it is for."""
    return run.step if run.scope.item is None else f"{run.step}[{run.scope.item}]"


def _attempt(run: TaskRun, number: object) -> RunAttempt | None:
    return next((each for each in run.attempts if each.number == number), None)


def _why(error: StepError) -> str:
    return f"{error.code}: {error.message}"


def _in_words(name: str, about: Mapping[str, object]) -> str:
    words = name.replace("-", " ")
    rest = ", ".join(f"{key} {value}" for key, value in about.items() if key != "step")
    return f"{words}: {rest}" if rest else words
