"""The term of a leader whose engine may run: it takes the engine before its first write."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["EngineTerm"]


@dataclass
class EngineTerm:
    """Safe to use from many threads: to take the engine twice changes nothing."""

    term: Callable[[], int]
    take: Callable[[int], None]
    """Takes the engine for a term; raises `EngineRefused` while executions live on the other."""
    _taken: int = 0

    def __call__(self) -> int:
        """Return the term in which this process leads.

        Raises:
            LeaseLost: it does not lead.
            EngineRefused, StoreAway, StoreRefuses: executions cannot run here now.
        """
        term = self.term()
        if self._taken != term:
            self.take(term)
            self._taken = term
        return term
