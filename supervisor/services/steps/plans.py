"""What each step of a flow would do now, by the dry run of its verb; nothing is changed.

The dry runs are made for the caller, as the flow would be the caller's.  A step shows what holds
now: that earlier steps change it by then is not foreseen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from supervisor.core.executions.entities import StepError
from supervisor.core.executions.failing import CHILD_REFUSED
from supervisor.core.executions.reduced import StepCall
from supervisor.core.flows.children import why_inputs_do_not_fit
from supervisor.core.flows.compiling import compile_flow
from supervisor.core.flows.document import FlowDocument, InputDocument, bind_inputs, bind_values
from supervisor.core.flows.foreseen import (
    FlowOutlook,
    ForeseenStep,
    StepBegins,
    StepOutlook,
    foresee_flow,
)
from supervisor.core.values.errors import (
    FlowNotFound,
    InvalidFlow,
    InvalidInputs,
    SupervisorError,
    Unavailable,
)
from supervisor.core.values.permissions import Actor, Caller
from supervisor.services.access.ownership import Ownership
from supervisor.services.services import Services
from supervisor.services.steps.arguments import Arguments
from supervisor.services.steps.errors import error_of
from supervisor.services.steps.grants import enforce
from supervisor.services.steps.product import verbs_of
from supervisor.services.steps.verb import ProductVerb, VerbRequest

__all__ = ["DRY_RUNS", "outlook_on"]

DRY_RUNS = 50
"""Dry runs of one plan: each may ask Kafka, for some seconds at most."""
UNANSWERED = 3
"""Dry runs without an answer after which no more are made."""
_PLAIN = {"http": ("method", "url")}
"""Arguments that are shown of a step without a dry run; of others all are."""


@dataclass
class _DryRuns:
    """Makes a bounded number of dry runs."""

    services: Services
    flow: FlowDocument
    caller: Caller
    author: Actor
    left: int = DRY_RUNS
    unanswered: int = 0
    _tables: Ownership = field(init=False)
    _verbs: Mapping[str, ProductVerb] = field(init=False)
    _called: dict[str, Sequence[InputDocument]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tables = Ownership(self.services.store)
        self._verbs = verbs_of(self.services)

    def look(self, step: ForeseenStep) -> StepOutlook:
        """Return what a step would do."""
        if step.error:
            return StepOutlook(step, error=StepError("expression", step.error))
        if step.arguments is None or step.begins is StepBegins.NO:
            return StepOutlook(step)
        if step.verb == "subflow":
            return self._child(step, step.arguments)
        if step.verb not in self._verbs and step.verb != "verify":
            shown = _PLAIN.get(step.verb, tuple(step.arguments))
            return StepOutlook(step, {name: step.arguments[name] for name in shown})
        if not self.left or self.unanswered >= UNANSWERED:
            return StepOutlook(step, looked=False)
        self.left -= 1
        try:
            return StepOutlook(step, self._effect(step, step.arguments))
        except SupervisorError as error:
            self.unanswered += isinstance(error, Unavailable)
            return StepOutlook(step, error=error_of(error))

    def _child(self, step: ForeseenStep, arguments: Mapping[str, JsonValue]) -> StepOutlook:
        """Return which execution a step would start, or why it cannot."""
        name, given = str(arguments["flow"]), arguments["inputs"]
        assert isinstance(given, dict), "the inputs of a step are an object"
        try:
            inputs = bind_values(name, self._inputs_of(name), given, from_steps=True)
        except FlowNotFound as error:
            return StepOutlook(step, error=StepError(CHILD_REFUSED, str(error)))
        except InvalidInputs as error:
            why = why_inputs_do_not_fit(name, error)
            return StepOutlook(step, error=StepError(CHILD_REFUSED, why))
        except InvalidFlow as error:
            why = f"this release does not take the flow {name}: {error}"
            return StepOutlook(step, error=StepError(CHILD_REFUSED, why))
        return StepOutlook(step, {"flow": name, "inputs": inputs})

    def _inputs_of(self, name: str) -> Sequence[InputDocument]:
        """Return the inputs of a flow that a step calls; one may call itself."""
        if name not in self._called:
            flows = self.services.flows
            document = flows.get(name).document if name != self.flow.flow else None
            flow = self.flow if document is None else flows.check(document)
            self._called[name] = flow.inputs
        return self._called[name]

    def _effect(
        self, step: ForeseenStep, arguments: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        enforce(self.caller, step.verb, arguments, self._tables)
        given = Arguments(arguments)
        if step.verb == "verify":
            name = given.text("supervisor")
            self.services.supervisors.state(name)
            return {"supervisor": name, "strict": given.flag("strict")}
        # The key of a call that nobody makes: a dry run takes none.
        call = StepCall("plan", "plan", step.step, 1, 1, step.verb, arguments)
        wanted = VerbRequest(call, given, self.caller, self.author)
        return self._verbs[step.verb].foresee(wanted)


def outlook_on(
    services: Services,
    flow: FlowDocument,
    given: Mapping[str, JsonValue],
    caller: Caller,
    author: Actor,
) -> FlowOutlook:
    """Return what each step of a flow would do now, with these inputs.

    Raises:
        InvalidInputs: the flow takes others.
    """
    inputs = bind_inputs(flow, given)
    language = services.flows.language
    steps, left_out = foresee_flow(compile_flow(flow, 1), inputs, language)
    runs = _DryRuns(services, flow, caller, author)
    return FlowOutlook(inputs, [runs.look(step) for step in steps], left_out)
