"""Reruns: an ended execution begins anew from a step, and keeps what the others have given."""

from dataclasses import dataclass

from supervisor.core.executions.entities import Execution, RerunOf
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.rerun import KeptSteps, RerunPreview, begins_in, kept_steps
from supervisor.core.executions.states import ExecutionState, StepState
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import bind_values
from supervisor.core.flows.reading import read_stored
from supervisor.core.values.errors import (
    ExecutionConflict,
    ExecutionNotFound,
    FieldError,
    InvalidRequest,
    RerunRefused,
)
from supervisor.core.values.field_types import nearest
from supervisor.core.values.permissions import Actor
from supervisor.services.flows.executions import Executions

__all__ = ["Reruns"]


@dataclass(frozen=True)
class Reruns:
    """The verbs; each raises `ExecutionStoreUnavailable` too, `start` also `LeaseLost`."""

    executions: Executions

    def preview(self, wanted: RerunOf) -> RerunPreview:
        """Return what a rerun would do, and change nothing.

        Raises:
            ExecutionNotFound, FlowNotFound, InvalidInputs, InvalidRequest, RerunRefused: as
                `start`; but kept steps may be others.
        """
        rerun, changed = self._rerun(wanted, "preview")
        states = {run.step: run.state for run in rerun.runs.values() if not run.scope.parent}
        names = [step.name for step in rerun.plan.steps]
        open_ = [name for name in names if states.get(name) is StepState.RUNNING]
        return RerunPreview(
            version=rerun.plan.version,
            keeps=[name for name in names if name in states and name not in open_],
            goes_on=open_,
            runs=[name for name in names if name not in states],
            changed=changed,
        )

    def start(self, wanted: RerunOf, key: str | None, author: Actor) -> tuple[Execution, bool]:
        """Start a rerun; return it, and whether it is new.

        `key`: of the caller: a repeat with it finds the rerun; None: each request starts one.

        Raises:
            ExecutionNotFound: there is no such execution.
            FlowNotFound: its flow was deleted.
            InvalidRequest: the flow has no such step.
            InvalidInputs: the newest version takes other inputs.
            RerunRefused: it runs still; nothing would begin anew; or a kept step is another one.
            ExecutionConflict: the key belongs to another execution.
        """
        if key is not None and (before := self._with_key(wanted, key)) is not None:
            return before, False
        rerun, changed = self._rerun(wanted, key or self.executions.new_key())
        if changed and not wanted.force:
            raise RerunRefused(
                f"version {rerun.plan.version} of {rerun.flow} has changed "
                f"{', '.join(changed)}, whose outputs would be kept; begin with one of them, "
                "or force it"
            )
        return self.executions.begin(rerun, author, "rerun-execution")

    def _with_key(self, wanted: RerunOf, key: str) -> Execution | None:
        """Return the rerun that was started with this key; also when the old one is purged."""
        flow, colon, _ = wanted.execution.partition(":")
        if not colon:  # of a subflow step: its id does not name its flow
            flow = self.executions.get(wanted.execution).flow
        try:
            before = self.executions.get(f"{flow}:{key}")
        except ExecutionNotFound:
            return None
        if before.rerun != wanted:
            raise ExecutionConflict(before.id)
        return before

    def _rerun(self, wanted: RerunOf, key: str) -> tuple[Execution, list[str]]:
        """Return the new execution, and the kept steps that are others."""
        old = self.executions.get(wanted.execution)
        if not old.state.ended:
            raise RerunRefused(f"{old.id} has not ended: it is {old.state}")
        if old.plan.outer is not None:
            whole = str(old.parent).partition("/")[0]
            raise RerunRefused(
                f"{old.id} is a batch of {whole}: rerun that one, which keeps the batches that "
                "succeeded"
            )
        plan, inputs = old.plan, old.inputs
        newest = self.executions.flows.get(old.flow)
        if wanted.latest:
            document = read_stored(newest.document)
            known = {one.name for one in document.inputs}
            given = {name: value for name, value in old.inputs.items() if name in known}
            plan = compile_flow(document, newest.version)
            inputs = bind_values(document.flow, document.inputs, given, from_steps=True)
        _check_first(wanted.first, plan)
        now, execution = self.executions.clock.now(), f"{old.flow}:{key}"
        kept = kept_steps(old, plan, execution, now, wanted.first)
        _check_begins(old, plan, kept)
        rerun = Execution(
            execution,
            plan,
            inputs,
            now,
            trigger=old.trigger,
            labels=old.labels,
            runs=kept.runs,
            rerun=wanted,
        )
        return rerun, kept.changed


def _check_first(first: str | None, plan: FlowPlan) -> None:
    names = begins_in(plan)
    if first is None or first in names:
        return
    close = nearest(first, names)
    hint = f"did you mean {close}?" if close else f"its steps are {', '.join(names)}"
    message = f"{first} is no step of {plan.flow}, version {plan.version}"
    raise InvalidRequest([FieldError("/from", message, hint)])


def _check_begins(old: Execution, plan: FlowPlan, kept: KeptSteps) -> None:
    """Refuse a rerun in which nothing would be done."""
    done = {run.step for run in kept.runs.values() if run.state.ended and not run.scope.parent}
    if old.state is ExecutionState.SUCCESS and done.issuperset(step.name for step in plan.steps):
        raise RerunRefused(f"every step of {old.id} is done: name the step to begin with")
