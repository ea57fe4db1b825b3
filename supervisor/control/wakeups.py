"""Tells waiting long polls that something changed; carries no meaning, a lost one costs a poll."""

import asyncio
import threading


class Wakeups:
    """Wakes every coroutine that waits; may be notified from any thread."""

    def __init__(self) -> None:
        """Nobody waits yet."""
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self.closed = False
        """The process ends: nobody should wait any more."""

    def notify(self) -> None:
        """Wake all who wait now."""
        with self._lock:
            waiting = list(self._waiting.items())
        for event, loop in waiting:
            try:
                loop.call_soon_threadsafe(event.set)
            except RuntimeError:
                continue  # its server has just stopped: nobody waits there any more

    def close(self) -> None:
        """Wake all, now and from now on: the process ends."""
        self.closed = True
        self.notify()

    def subscribe(self) -> asyncio.Event:
        """Return an event of the running loop that the next `notify` sets; `unsubscribe` it."""
        event = asyncio.Event()
        with self._lock:
            self._waiting[event] = asyncio.get_running_loop()
        return event

    def unsubscribe(self, event: asyncio.Event) -> None:
        """Stop waking it."""
        with self._lock:
            self._waiting.pop(event, None)
