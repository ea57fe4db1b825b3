"""All steps of a flow with their places in its document, those inside others too."""

from collections.abc import Iterator, Sequence

from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.steps import ForEachStep, ParallelStep, StepDocument, SwitchStep
from supervisor.core.values.field_types import pointer_part

__all__ = ["placed_steps"]


def placed_steps(flow: FlowDocument) -> Iterator[tuple[str, StepDocument]]:
    """Yield the JSON pointer of each step and the step, the outer ones first."""
    yield from _placed("/steps", flow.steps)
    yield from _placed("/onFailure", flow.on_failure)
    yield from _placed("/finally", flow.finally_)


def _placed(place: str, steps: Sequence[StepDocument]) -> Iterator[tuple[str, StepDocument]]:
    for number, step in enumerate(steps):
        here = f"{place}/{number}"
        yield here, step
        match step:
            case ParallelStep() | ForEachStep():
                yield from _placed(f"{here}/steps", step.steps)
            case SwitchStep():
                for name, case in step.cases.items():
                    yield from _placed(f"{here}/cases/{pointer_part(name)}", case)
                yield from _placed(f"{here}/default", step.default)
            case _:
                pass
