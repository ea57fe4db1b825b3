"""What came of a call, without the secrets of this process: it is stored, sent and shown.

A server may answer with the header that it was sent, and a library may print it in its error.
"""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from supervisor.core.executions.inputs import Fails, Outcome, Succeeded, Waits
from tasks.runtime.secrets import without_secrets

__all__ = ["hidden"]


def hidden(outcome: Outcome) -> Outcome:
    """Return an outcome with each known secret masked, in its outputs and in its texts."""
    match outcome:
        case Succeeded():
            return replace(outcome, outputs=_of_names(outcome.outputs))
        case Fails():
            error = replace(outcome.error, message=without_secrets(outcome.error.message))
            return replace(outcome, error=error)
        case Waits():
            return replace(outcome, what=without_secrets(outcome.what))
        case _:
            return outcome


def _of_names(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {without_secrets(name): _of(value) for name, value in values.items()}


def _of(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return without_secrets(value)
        case list():
            return [_of(each) for each in value]
        case dict():
            return _of_names(value)
        case _:
            return value
