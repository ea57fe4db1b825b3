"""Options of commands that try or start flows: inputs, and what becomes of the steps."""

import json
from collections.abc import Collection, Sequence
from typing import Annotated

import typer
from pydantic import JsonValue

from supervisor.cli.shell.problems import CommandFailed
from supervisor.core.executions.entities import StepError
from supervisor.core.executions.inputs import Fails, Succeeded
from supervisor.core.values.field_types import nearest
from supervisor.executions.simulate import LosesRunner, NamedOutcome, SaysNo

Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="NAME=VALUE",
        help="Give an input, as text or as JSON.",
        show_default="none",
    ),
]
_FAIL = "fail"


def read_inputs(pairs: Sequence[str]) -> dict[str, JsonValue]:
    """Return name -> value; a value that is no JSON is a text.

    Raises:
        CommandFailed: a pair has no name.
    """
    return {name: _value(text) for name, text in map(_split, pairs)}


def read_outcomes(pairs: Sequence[str], steps: Collection[str]) -> dict[str, list[NamedOutcome]]:
    """Return name of a step -> its outcomes in order.

    Raises:
        CommandFailed: a step is not known, or an outcome is none.
    """
    outcomes: dict[str, list[NamedOutcome]] = {}
    for name, text in map(_split, pairs):
        if name not in steps:
            close = nearest(name, steps)
            hint = f"did you mean {close}?" if close else f"steps are {', '.join(steps)}"
            raise CommandFailed(f"there is no step {name}", hint)
        outcomes.setdefault(name, []).append(_outcome(text))
    return outcomes


def _outcome(text: str) -> NamedOutcome:
    kind, _, code = text.partition(":")
    if kind == _FAIL:
        named = code or "failed"
        return Fails(StepError(named, f"it was to fail as {named}", passes=True))
    match text:
        case "lost":
            return LosesRunner()
        case "no":
            return SaysNo()
        case "ok":
            return Succeeded()
    value = _value(text)
    if not isinstance(value, dict):
        known = 'ok, fail, fail:CODE, lost, no, or outputs such as {"rows": 3}'
        raise CommandFailed(f"{text} is no outcome", f"use {known}")
    return Succeeded(value)


def _split(pair: str) -> tuple[str, str]:
    name, equals, text = pair.partition("=")
    if not equals or not name:
        raise CommandFailed(f"{pair} has no name and value", "write NAME=VALUE")
    return name, text


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value
