"""The port to persisters' dead letters, as an overlord passes on what an operator asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

__all__ = ["DeskRefuses", "DeskSilent", "LetterCall", "LetterDesks", "LetterMethod"]


class DeskSilent(Exception):
    """No usable answer came in time; its text says why.  A verb may still have been done."""


class DeskRefuses(Exception):
    """The persister has answered, and did not do it; its text says why."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class LetterMethod(StrEnum):
    """How a call is sent."""

    GET = "GET"
    POST = "POST"
    DELETE = "DELETE"


@dataclass(frozen=True)
class LetterCall:
    """A call of the routes under `/dead-letters`; each may be repeated."""

    method: LetterMethod
    path: str = ""
    """Below `/dead-letters`: empty, or `/0/17`, or `/0/17/replay`."""
    params: Mapping[str, str] = field(default_factory=dict)


class LetterDesks(Protocol):
    """The desks of persisters by their addresses; safe to call from many threads."""

    def call(self, url: str, call: LetterCall) -> bytes:
        """Return a persister's answer, which is JSON.

        Raises:
            DeskSilent: no usable answer came in time.
            DeskRefuses: it has answered with another status than 200.
        """
        ...
