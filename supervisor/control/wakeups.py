"""Wake-ups of waiting long polls; one carries no meaning, and a lost one costs a poll."""

import asyncio
import threading


class Wakeups:
    """Wakes every waiting coroutine; `notify` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self.closed = False
        """True once the process ends: then no caller should wait."""

    def notify(self) -> None:
        """Wake all coroutines that wait now."""
        with self._lock:
            waiting = list(self._waiting.items())
        for event, loop in waiting:
            try:
                loop.call_soon_threadsafe(event.set)
            except RuntimeError:
                continue  # its event loop has just stopped: no coroutine waits there

    def close(self) -> None:
        """Wake all coroutines, and let none wait from now on: the process ends."""
        self.closed = True
        self.notify()

    def subscribe(self) -> asyncio.Event:
        """Return an event of the running loop that the next `notify` sets; `unsubscribe` it."""
        event = asyncio.Event()
        with self._lock:
            self._waiting[event] = asyncio.get_running_loop()
        return event

    def unsubscribe(self, event: asyncio.Event) -> None:
        """Remove an event, so that `notify` no longer sets it."""
        with self._lock:
            self._waiting.pop(event, None)
