"""Response models of what a flow would do."""

from pydantic import JsonValue

from supervisor.core.flows.foreseen import FlowOutlook, StepBegins, StepOutlook
from supervisor.views.flows.executions import StepErrorView
from tasks.contract.wire import Wire

__all__ = ["FlowOutlookView", "StepOutlookView", "outlook_view"]


class StepOutlookView(Wire):
    """What one step would do now."""

    step: str
    type: str
    begins: StepBegins
    """`yes`; `no`: its `if` is false; `open`: that depends on what is not known yet; `failure`:
    only once another step has failed."""
    inside: list[str]
    """The steps around it, the outermost first, such as `days[3]` for an item of a `forEach`."""
    after: list[str]
    depends_on: list[str]
    """What has to be known first: steps whose outputs it reads; `trigger`, `execution`, `item`."""
    effect: dict[str, JsonValue] | None
    """What its dry run gives, or its arguments if it has none; null: it is not known."""
    error: StepErrorView | None
    """Why it would fail now."""
    costs: str
    """What the step costs, in words."""
    looked: bool
    """False: no dry run was made, as there were too many before it, or without an answer."""


class FlowOutlookView(Wire):
    """What a flow would do now; nothing was changed."""

    flow: str
    inputs: dict[str, JsonValue]
    """One for each that the flow has."""
    steps: list[StepOutlookView]
    left_out: int
    """Steps that are not shown, as there are too many."""


def outlook_view(flow: str, outlook: FlowOutlook) -> FlowOutlookView:
    """Return what a flow would do as the API has it."""
    return FlowOutlookView(
        flow=flow,
        inputs=dict(outlook.inputs),
        steps=[_step(each) for each in outlook.steps],
        left_out=outlook.left_out,
    )


def _step(each: StepOutlook) -> StepOutlookView:
    error = each.error
    return StepOutlookView(
        step=each.step.step,
        type=each.step.verb,
        begins=each.step.begins,
        inside=list(each.step.inside),
        after=list(each.step.after),
        depends_on=list(each.step.depends_on),
        effect=None if each.effect is None else dict(each.effect),
        error=None if error is None else StepErrorView(code=error.code, message=error.message),
        costs=each.costs,
        looked=each.looked,
    )
