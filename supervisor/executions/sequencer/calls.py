"""The calls of a partition: those that wait for a runner, and who makes which.

They follow from the task runs, so nothing of them is stored: an owner that begins works them out.
Looks at conditions come again by their times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.beginning import call_of
from supervisor.core.executions.draft import ExecutionDraft
from supervisor.core.executions.entities import Execution, Runner, TaskRun
from supervisor.core.executions.expressions import ExpressionFailed, Expressions
from supervisor.core.executions.plan import CallWork
from supervisor.core.executions.reduced import StepCall
from supervisor.core.executions.states import StepState
from supervisor.ports.flows.executions import CallPlace, HeldCall

__all__ = ["PartitionCalls", "is_open"]

_HELD = {StepState.RUNNING, StepState.KILLING}


@dataclass
class PartitionCalls:
    """By task run, oldest first.  Nothing in it changes before a commit."""

    calls: dict[str, StepCall] = field(default_factory=dict)
    """The newest call of each run, and the newest look."""
    claims: dict[str, HeldCall] = field(default_factory=dict)

    def restore(self, execution: Execution, now: datetime, language: Expressions) -> None:
        """Work out the calls of an execution that was restored."""
        draft = ExecutionDraft(execution, now, language)
        for run in execution.runs.values():
            work = execution.plan.step(run.step).work
            if run.state not in {StepState.SUBMITTED, *_HELD} or not isinstance(work, CallWork):
                continue
            try:
                self.calls[run.id] = call_of(draft, run)
            except ExpressionFailed:
                continue  # the same values have worked before: its time runs out at worst
            self._claim(execution, run)

    def keep(self, execution: Execution, runs: Iterator[str], new: Sequence[StepCall]) -> None:
        """Take over what a batch has changed of an execution; `new`: its calls."""
        newest = {each.run: each for each in new}
        for name in runs:
            run = execution.runs[name]
            call = self.calls.pop(name, None)
            call = newest.get(name, call)
            if call is not None and (is_open(execution, call) or run.state in _HELD):
                self.calls[name] = call
            self.claims.pop(name, None)
            self._claim(execution, run)

    def forget(self, execution: Execution) -> None:
        """Forget an execution that is purged."""
        for run in execution.runs:
            self.calls.pop(run, None)
            self.claims.pop(run, None)

    def held(self, runner: Runner) -> dict[CallPlace, HeldCall]:
        """Return what a runner makes."""
        return {one.place: one for one in self.claims.values() if one.runner == runner}

    def holders(self) -> set[Runner]:
        """Return the runners that make calls; a glance, for any thread."""
        return {one.runner for one in tuple(self.claims.values())}

    def _claim(self, execution: Execution, run: TaskRun) -> None:
        attempt = run.attempt
        if run.state in _HELD and attempt is not None and attempt.runner is not None:
            place = CallPlace(execution.id, run.id, attempt.number)
            cancelled = run.state is StepState.KILLING
            self.claims[run.id] = HeldCall(place, attempt.runner, cancelled)


def is_open(execution: Execution | None, call: StepCall) -> bool:
    """Whether a call waits for a runner, or a look for its answer."""
    run = None if execution is None else execution.runs.get(call.run)
    if run is None or run.attempt is None or run.attempt.number != call.attempt:
        return False
    if call.check:
        return (
            run.state is StepState.WAITING and run.wait is not None and run.wait.check == call.check
        )
    return run.state is StepState.SUBMITTED
