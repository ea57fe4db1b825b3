"""A verb of the product as a step: begun once per key, then looked at until it is in effect.

begin ─► what came of it, kept by the key ─► look, look, ... ─► SUCCESS or FAILED
└ its answer is lost: recall finds what the first one did
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.permissions import Actor, Caller
from supervisor.services.steps.arguments import Arguments

__all__ = ["Begun", "ProductVerb", "VerbRequest"]


@dataclass(frozen=True)
class VerbRequest:
    """A call of a verb, for the owner of its flow."""

    call: StepCall
    arguments: Arguments
    owner: Caller
    author: Actor
    """Its reason names the step and the effect, so that what it did can be found again."""


@dataclass(frozen=True)
class Begun:
    """What a verb did."""

    outputs: Mapping[str, JsonValue] = field(default_factory=dict)
    waits: Mapping[str, JsonValue] | None = None
    """What is waited for, see `looking`; None: nothing."""


class ProductVerb(Protocol):
    """One verb; each method raises the errors of its service."""

    def begin(self, wanted: VerbRequest) -> Begun:
        """Do it."""
        ...

    def recall(self, wanted: VerbRequest) -> Begun:
        """Return what a call with the same key did, whose answer is lost."""
        ...

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what it would do, and do nothing."""
        ...
