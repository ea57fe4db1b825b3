"""The execution that a `subflow` step starts, with its inputs bound as those of a request are.

StartChild + CalledFlow ─► inputs fit ─► the child's Execution
                      └──► else ───────► the end of the child, for the step that waits for it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ChildEnded
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.reduced import Send, StartChild
from supervisor.core.executions.states import ExecutionState
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import FlowDocument, InputDocument, bind_values
from supervisor.core.values.errors import FieldError, InvalidInputs

__all__ = [
    "CalledFlow",
    "begin_child",
    "called_flow",
    "refuse_child",
    "why_inputs_do_not_fit",
]

_NAMED_MAX = 5
"""Inputs that a message names: a step may give a thousand."""


@dataclass(frozen=True)
class CalledFlow:
    """A flow's newest version as a `subflow` step finds it."""

    plan: FlowPlan
    inputs: Sequence[InputDocument] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def called_flow(flow: FlowDocument, version: int) -> CalledFlow:
    """Return a flow's version as a `subflow` step finds it."""
    return CalledFlow(compile_flow(flow, version), flow.inputs, flow.labels)


def begin_child(start: StartChild, flow: CalledFlow | None, now: datetime) -> Execution | Send:
    """Return the new execution; if none begins, the message that its parent gets instead."""
    if flow is None:
        return refuse_child(start, f"there is no flow {start.flow}")
    try:
        inputs = bind_values(flow.plan.flow, flow.inputs, start.inputs, from_steps=True)
    except InvalidInputs as refused:
        return refuse_child(start, why_inputs_do_not_fit(start.flow, refused))
    return Execution(
        start.execution,
        flow.plan,
        inputs,
        now,
        labels=flow.labels,
        parent=start.parent,
        depth=start.depth,
    )


def refuse_child(start: StartChild, why: str) -> Send:
    """Return the message by which a step's attempt fails, as its execution cannot begin."""
    parent, run, attempt = start.parent.split("/")
    ended = ChildEnded(run, int(attempt), ExecutionState.FAILED, why=why, refused=True)
    return Send(parent, ended)


def why_inputs_do_not_fit(flow: str, refused: InvalidInputs) -> str:
    """Return what is wrong with the inputs of a `subflow` step, for people."""
    named = "; ".join(_shown(error) for error in refused.errors[:_NAMED_MAX])
    left = len(refused.errors) - _NAMED_MAX
    more = f"; and {left} more" if left > 0 else ""
    return f"the inputs do not fit the flow {flow}: {named}{more}"


def _shown(error: FieldError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{error.pointer}: {error.message}{hint}"
