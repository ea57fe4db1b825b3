"""Wake-ups of waiting long polls; one carries no meaning, and one too many costs a look."""

import asyncio
import threading
from collections.abc import Callable, Collection


class Wakeups:
    """Wakes waiting coroutines; it may be called from any thread but for `subscribe`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Event, tuple[asyncio.AbstractEventLoop, str]] = {}
        """Event -> its event loop, and the name of whoever waits."""
        self.closed = False
        """True once the process ends: then no caller should wait."""

    def notify(self, names: Collection[str] | None = None) -> None:
        """Wake the coroutines that wait now under one of these names; None: all."""
        self._wake(lambda name: names is None or name in names)

    def notify_but(self, names: Collection[str]) -> None:
        """Wake the coroutines that wait now under any other name."""
        self._wake(lambda name: name not in names)

    def _wake(self, meant: Callable[[str], bool]) -> None:
        with self._lock:
            waiting = [(e, loop) for e, (loop, name) in self._waiting.items() if meant(name)]
        for event, loop in waiting:
            try:
                loop.call_soon_threadsafe(event.set)
            except RuntimeError:
                continue  # its event loop has just stopped: no coroutine waits there

    def close(self) -> None:
        """Wake all coroutines, and let none wait from now on: the process ends."""
        self.closed = True
        self.notify()

    def subscribe(self, name: str = "") -> asyncio.Event:
        """Return an event of the running loop that the next wake-up sets; `unsubscribe` it."""
        event = asyncio.Event()
        with self._lock:
            self._waiting[event] = (asyncio.get_running_loop(), name)
        return event

    def unsubscribe(self, event: asyncio.Event) -> None:
        """Remove an event, so that no wake-up sets it any more."""
        with self._lock:
            self._waiting.pop(event, None)
