"""The port to persisters, as an overlord asks how they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["PersisterAnswer", "PersisterSilent", "Persisters"]


class PersisterSilent(Exception):
    """No usable answer came in time; its text says why."""


@dataclass(frozen=True)
class PersisterAnswer:
    """What a persister says of itself."""

    state: str
    reason: str = ""
    lag: Mapping[str, int] = field(default_factory=dict)
    """Topic -> records."""
    lag_seconds: Mapping[str, float] = field(default_factory=dict)
    """Topic -> age of the oldest one, where it is known."""
    stored: int | None = None
    dead_letters: int | None = None
    lost: int = 0


class Persisters(Protocol):
    """Persisters by their addresses; safe to call from many threads."""

    def status(self, url: str) -> PersisterAnswer:
        """Return how one is.

        Raises:
            PersisterSilent: no usable answer came within two seconds.
        """
        ...
