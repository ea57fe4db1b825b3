"""Bound on supervisor names as metric labels, because a scraper keeps each label for ever."""

import threading
from typing import Final

NAMES_MAX: Final = 1_000
"""Supervisors that have samples of their own in one process; all others share one label."""
OTHERS: Final = "(others)"


class LabelNames:
    """Lets a bounded number of names be labels; safe to call from many threads."""

    def __init__(self, most: int = NAMES_MAX) -> None:
        self._most = most
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def label(self, name: str) -> str:
        """Return the name, or the shared label for names beyond the bound."""
        with self._lock:
            if name not in self._known and len(self._known) >= self._most:
                return OTHERS
            self._known.add(name)
            return name
