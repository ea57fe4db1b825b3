"""How many names of supervisors may be labels of metrics: a scraper keeps each that it ever saw."""

import threading
from typing import Final

NAMES_MAX: Final = 1_000
"""Supervisors that have samples of their own in one process; further ones share one."""
OTHERS: Final = "(others)"


class LabelNames:
    """Lets so many names be labels; safe for threads."""

    def __init__(self, most: int = NAMES_MAX) -> None:
        """Know none yet."""
        self._most = most
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def label(self, name: str) -> str:
        """Return the name, or what stands for those beyond the bound."""
        with self._lock:
            if name not in self._known and len(self._known) >= self._most:
                return OTHERS
            self._known.add(name)
            return name
