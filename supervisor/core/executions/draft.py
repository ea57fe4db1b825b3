"""An execution while one input is worked in: what it becomes, and what goes out with it.

Rules put new task runs into the draft and change the execution; the draft checks each move, writes
the events of it, and notes which scope has to be looked at again.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import JsonValue

from supervisor.core.executions.entities import Execution, RunAttempt, StepScope, TaskRun
from supervisor.core.executions.expressions import Expressions
from supervisor.core.executions.plan import Step
from supervisor.core.executions.reduced import ExecutionEvent, Message, Reduced, StepCall
from supervisor.core.executions.states import (
    ExecutionState,
    check_execution_move,
    check_run_move,
)


@dataclass
class ExecutionDraft:
    """The work of one reduction."""

    execution: Execution
    now: datetime
    language: Expressions
    calls: list[StepCall] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    scopes: deque[StepScope] = field(default_factory=deque)
    """Where something has ended or may begin: looked at before the reduction ends."""
    _changed: dict[str, TaskRun] = field(default_factory=dict)
    _events: list[ExecutionEvent] = field(default_factory=list)

    def run(self, run_id: str) -> TaskRun | None:
        """Return a task run as it is by now; None: it has not begun."""
        return self._changed.get(run_id) or self.execution.runs.get(run_id)

    def runs(self) -> list[TaskRun]:
        """Return all task runs as they are by now."""
        return list({**self.execution.runs, **self._changed}.values())

    def count(self) -> int:
        """Return how many task runs there are."""
        new = sum(run_id not in self.execution.runs for run_id in self._changed)
        return len(self.execution.runs) + new

    def step_of(self, run: TaskRun) -> Step:
        """Return the step of a task run."""
        return self.execution.plan.step(run.step)

    def put(self, run: TaskRun) -> TaskRun:
        """Take a task run over, new or changed, and return it as it is kept.

        Raises:
            IllegalMove: a fault of the reducer.
        """
        old = self.run(run.id)
        if old is not None:
            check_run_move(old.state, run.state)
        ends = run.state.ended and (old is None or not old.state.ended)
        if ends:
            run = replace(run, ended_at=self.now, wait=None, retry_at=None, due_at=None)
        self._changed[run.id] = run
        self._write_events(old, run)
        if ends:
            self.scopes.append(run.scope)
        return run

    def move(self, state: ExecutionState) -> None:
        """Change the execution's state.

        Raises:
            IllegalMove: a fault of the reducer.
        """
        if state is self.execution.state:
            return
        check_execution_move(self.execution.state, state)
        paused_at = self.now if state is ExecutionState.PAUSED else None
        self.execution = replace(self.execution, state=state, paused_at=paused_at)
        if not state.ended:
            self.write_event("state-changed", state=state)

    def write_event(self, name: str, run: str = "", **about: JsonValue) -> None:
        """Add an event with the next number."""
        self.execution = replace(self.execution, events=self.execution.events + 1)
        self._events.append(ExecutionEvent(self.execution.events, self.now, name, run, about))

    def finish(self) -> Reduced[Execution]:
        """Return the new version with all that goes out with it."""
        runs: Mapping[str, TaskRun] = {**self.execution.runs, **self._changed}
        return Reduced(
            entity=replace(self.execution, version=self.execution.version + 1, runs=runs),
            changed=frozenset(self._changed),
            calls=tuple(self.calls),
            messages=tuple(self.messages),
            events=tuple(self._events),
        )

    def _write_events(self, old: TaskRun | None, new: TaskRun) -> None:
        if old is None:
            self.write_event("step-started", new.id, step=new.step)
        before: tuple[RunAttempt, ...] = old.attempts if old else ()
        for number, attempt in enumerate(new.attempts):
            known = before[number] if number < len(before) else None
            about: dict[str, JsonValue] = {"step": new.step, "attempt": attempt.number}
            if known is None:
                self.write_event("attempt-started", new.id, **about)
            if attempt.state.ended and not (known and known.state.ended):
                self.write_event("attempt-ended", new.id, **about, state=attempt.state)
        if new.state.ended and not (old and old.state.ended):
            self.write_event("step-ended", new.id, step=new.step, state=new.state)
