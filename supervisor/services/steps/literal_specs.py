"""Specs that stand in `apply` steps as they are: read when the flow is applied.

What an expression gives is not known before the step runs, and is read then.
"""

from collections.abc import Callable

from pydantic import JsonValue

from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.placed import placed_steps
from supervisor.core.flows.steps import ApplyStep
from supervisor.core.values.errors import FieldError, InvalidFlow, InvalidSpec, NotAllowed

__all__ = ["check_specs"]


def check_specs(flow: FlowDocument, read: Callable[[object], object]) -> None:
    """Read every literal spec; `read` raises as the service's own reading of a spec does.

    Raises:
        InvalidFlow: specs are not acceptable; each error with its place in the flow.
        NotAllowed: a spec is of a table, or of a topic, that its author may not apply.
    """
    errors: list[FieldError] = []
    for place, step in placed_steps(flow):
        if not isinstance(step, ApplyStep) or _has_expression(step.spec):
            continue
        try:
            read(step.spec)
        except InvalidSpec as refused:
            errors += [
                FieldError(f"{place}/spec{each.pointer}", each.message, each.hint)
                for each in refused.errors
            ]
        except NotAllowed as refused:
            raise NotAllowed(f"the step {step.name}: {refused}") from None
    if errors:
        raise InvalidFlow(errors)


def _has_expression(value: JsonValue) -> bool:
    match value:
        case str():
            return "${" in value
        case dict():
            return any(map(_has_expression, value.values()))
        case list():
            return any(map(_has_expression, value))
        case _:
            return False
