"""The variables that the expressions of a flow may read, as they are known before it runs."""

from collections.abc import Collection, Mapping

from supervisor.core.executions.expressions import ANY, Kinds, Known, ValueKind

__all__ = ["flow_variables", "trigger_variables"]

_TEXT = Known(frozenset({ValueKind.STRING}))
_MAP: Kinds = frozenset({ValueKind.MAP})
_NULL = Known(frozenset({ValueKind.NULL}))
_EXECUTION = Known(
    _MAP,
    {"id": _TEXT, "flow": _TEXT, "failures": Known(frozenset({ValueKind.LIST}))},
    "an execution has no {name}",
    "it has id, flow, failures",
)


def flow_variables(
    inputs: Mapping[str, Known], steps: Collection[str], *, in_each: bool = False
) -> Known:
    """Return what the expressions of a step may read.

    `inputs`: name -> what is known of it; `steps`: those that are done before; `in_each`: whether
    there is an item.
    """
    known = {
        "inputs": Known(_MAP, inputs, "the flow has no input {name}", _these("inputs", inputs)),
        "trigger": Known(_MAP),
        "steps": Known(
            _MAP,
            dict.fromkeys(steps, Known(_MAP)),
            "the step {name} is not before this one",
            "name it in `after`",
        ),
        "item": Known() if in_each else _NULL,
        "index": Known(frozenset({ValueKind.INT})) if in_each else _NULL,
        "execution": _EXECUTION,
    }
    return _named(known)


def trigger_variables(kind: str, names: Collection[str]) -> Known:
    """Return what the inputs of a trigger may read: `trigger` alone, with these members."""
    members = {name: Known(ANY) for name in names}
    message = f"a trigger of the type {kind} has no {{name}}"
    return _named({"trigger": Known(_MAP, members, message, f"it has {', '.join(members)}")})


def _named(known: Mapping[str, Known]) -> Known:
    hint = f"expressions here read {', '.join(known)}"
    return Known(_MAP, known, "there is no variable {name}", hint)


def _these(what: str, names: Collection[str]) -> str:
    return f"its {what} are {', '.join(names)}" if names else f"it has no {what}"
