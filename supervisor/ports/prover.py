"""The port of proofs: a ledger held against files and topic, outside of this process.

    ledger ─► lists of its tables ─► they fit: the verdict
      ▲                               they do not: the table has changed meanwhile ─┐
      └─────────────────────────────────────────────────────────────────────────────┘

`tidegate verify` takes the same way: see `first_verdict`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Event
from typing import Protocol, TypeVar

from pydantic import JsonValue

from supervisor.core.executions.plan import KILL_GRACE

__all__ = ["Proof", "ProofFailed", "ProofRequest", "ProofStopped", "Prover", "first_verdict"]

LOOKS = 3
"""Looks at ledger and lists until they agree; a lasting difference is a finding."""
V = TypeVar("V")


@dataclass(frozen=True)
class ProofRequest:
    """What is to be proved."""

    ledger: str
    """JSON of the ledger."""
    files: Sequence[str]
    """JSON of the files of each of its tables, as readers get them."""
    warehouse: str
    strict: bool
    last: bool
    """Whether a list that does not fit the ledger is a finding; else it has changed meanwhile."""
    whole: bool = False
    """Whether the whole verdict is wanted, and how far the proof is."""


@dataclass(frozen=True)
class Proof:
    """The verdict."""

    proven: bool
    summary: str
    numbers: dict[str, JsonValue]
    """The verdict's word, and its counts, by their names in the output of `tidegate verify`."""
    whole: JsonValue = None
    """`Verification` of `supervisor.verify.verdict` as JSON, if it was wanted."""


class ProofFailed(Exception):
    """There is no verdict; `passes`: another try may have one."""

    def __init__(self, code: str, message: str, *, passes: bool, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.fix = fix
        """What helps; empty: nobody knows."""
        self.passes = passes


class ProofStopped(Exception):
    """The proof was cancelled; its process has ended."""


class Prover(Protocol):
    """Proves; safe from many threads."""

    def prove(
        self, request: ProofRequest, cancel: Event, grace: timedelta = KILL_GRACE
    ) -> Proof | None:
        """Return the verdict; None: the files have changed since the ledger was read.

        `grace`: from the cancel to the hard end.

        Raises:
            ProofStopped: `cancel` was set; that ends it within a second, or at the end of a grace.
            ProofFailed: it took more time, memory or files than it may, or a part is not available.
        """
        ...


def first_verdict(look: Callable[[bool], V | None]) -> V:
    """Return the verdict of the first look that has one.

    A look reads ledger and lists, and returns None if they do not fit: they are of two moments.  It
    gets whether it is the last one: then a list that does not fit is a finding.
    """
    for left in reversed(range(LOOKS)):
        verdict = look(left == 0)
        if verdict is not None:
            return verdict
    raise AssertionError("the last look has a verdict")
