"""Errors of services as the errors of steps."""

import re

from supervisor.core.executions.entities import StepError
from supervisor.core.values.errors import KeyTakenOver, NotForgettable, Refused, SupervisorError

__all__ = ["error_of", "word_of"]

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PASSES = (NotForgettable,)
"""Refusals that may pass without a change of the request."""


def error_of(error: SupervisorError) -> StepError:
    """Return why a step fails: in the words of the service, with the name of its error as code.

    A refusal has changed nothing, so that a retry begins a new effect.  What did not answer may
    have acted, so that a retry repeats the key.
    """
    refused = isinstance(error, Refused) and not isinstance(error, KeyTakenOver)
    passes = not refused or isinstance(error, _PASSES)
    return StepError(word_of(type(error).__name__), str(error), passes=passes, known=refused)


def word_of(name: str) -> str:
    """Return the code of an error's name: SupervisorNotFound is supervisor-not-found."""
    return _WORD.sub("-", name).lower()
