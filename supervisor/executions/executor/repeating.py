"""A thread that does the same from time to time."""

import threading
from collections.abc import Callable

import structlog

__all__ = ["Repeating"]

log = structlog.get_logger()


class Repeating:
    """Runs a function once per period, from `start` to `stop`; an error of it ends no thread."""

    def __init__(self, name: str, period_s: float, run: Callable[[], object]) -> None:
        """Start nothing yet."""
        self._period_s = period_s
        self._run_once = run
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin, at once."""
        self._thread.start()

    def stop(self, within_s: float = 2.0) -> None:
        """End; what runs is waited for."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join(within_s)

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._run_once()
            except Exception:
                log.exception("a duty of the executor failed", duty=self._thread.name)
            self._ending.wait(self._period_s)
