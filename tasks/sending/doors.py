"""The addresses of persisters, as far as this process knows them."""

from collections.abc import Callable, Sequence
from threading import Lock

__all__ = ["Doors"]


class Doors:
    """Addresses of its own settings, else those that an overlord names; thread-safe."""

    def __init__(self, own: Sequence[str] = ()) -> None:
        """Use `own` addresses for good; without any, those that are heard last."""
        self._own = tuple(own)
        self._heard: tuple[str, ...] = ()
        self._lock = Lock()
        self._waiting: list[Callable[[], None]] = []

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return base addresses in the order in which they are tried; empty: none is known."""
        return self._own or self._heard

    def hear(self, addresses: Sequence[str]) -> None:
        """Note what an overlord names; one that names none changes nothing.  Returns at once."""
        if not addresses:
            return
        with self._lock:
            self._heard = tuple(addresses)
            waiting, self._waiting = self._waiting, []
        for each in waiting:
            each()

    def when_known(self, call: Callable[[], None]) -> None:
        """Call `call` once an address is known, at once or by the thread that hears it."""
        with self._lock:
            if not self.addresses:
                self._waiting.append(call)
                return
        call()
