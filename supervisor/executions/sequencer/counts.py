"""What the owners of one process have done since it began, for metrics."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Counted", "OwnerCounts"]

Counted: TypeAlias = Literal["aborts", "inputs", "steps", "takeovers"]
"""Aborted transactions, inputs that are committed, calls that they led to, partitions begun."""


@dataclass
class OwnerCounts:
    """Safe to use from many threads."""

    _counts: Counter[Counted] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: Counted, number: int = 1) -> None:
        """Count some more."""
        with self._lock:
            self._counts[what] += number

    def all(self) -> Mapping[Counted, int]:
        """Return all counts up to now."""
        with self._lock:
            return dict(self._counts)
