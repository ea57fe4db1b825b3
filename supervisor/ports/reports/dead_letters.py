"""The port to dead letters: records that can never be stored, kept for people with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["DeadLetter", "DeadLetters"]


@dataclass(frozen=True)
class DeadLetter:
    """A record that no store takes, as it came."""

    key: bytes | None
    body: bytes
    topic: str
    """Where it was read; `direct`: it came by HTTP."""
    partition: int
    offset: int
    reason: str
    """Why it cannot be stored, for people."""


class DeadLetters(Protocol):
    """A place for dead letters; safe to call from many threads."""

    def put(self, letters: Sequence[DeadLetter]) -> None:
        """Return once no crash loses any of the letters; a repeat may keep one twice.

        Raises:
            StoreAway: it is not known of all of them.
        """
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...
