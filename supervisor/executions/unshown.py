"""What a leader has sent to the topics and the tables may not show yet.

pause ─► letter ─► relay ─► executor ─► projector ─► tables
  └─ kept here: the execution as it will be ─► a resume is judged by it, not by the tables
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.executions.entities import Execution

__all__ = ["UnshownInputs"]

_KEPT_MAX = 1_000
_SHOWN_WITHIN = timedelta(seconds=5)
"""Versions alone do not say that a letter is in: another input may have come before it."""


@dataclass
class UnshownInputs:
    """Executions as they will be once the letters of this process are worked in; thread-safe."""

    _kept: OrderedDict[str, tuple[Execution, datetime]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, judged: Mapping[str, Execution], now: datetime) -> None:
        """Keep what committed letters will make of executions; the oldest give way."""
        with self._lock:
            for name, execution in judged.items():
                self._kept[name] = execution, now
                self._kept.move_to_end(name)
            while len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)

    def views(self, shown: Execution, now: datetime) -> Iterator[Execution]:
        """Yield by what an input is judged: it is taken if it fits one of them.

        The tables know the end of an execution best, and what comes behind the letters.
        """
        with self._lock:
            sent, at = self._kept.get(shown.id, (None, now))
            passed = sent is not None and shown.version >= sent.version
            if sent is not None and (shown.state.ended or (passed and now - at > _SHOWN_WITHIN)):
                del self._kept[shown.id]
                sent = None
        if sent is not None:
            yield sent
        if sent is None or passed:
            yield shown
