"""Semaphore for the tasks that finish at once, whose waiters can give up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition


class FinishingSlots:
    """Lets a number of waiters (`places`) in at a time, in order of arrival."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._queue: list[object] = []
        self._changed = Condition()

    @contextmanager
    def place(self, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Hold a place while the body runs; False: `given_up` was true before a place was free."""
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(lambda: given_up() or self._is_next(ticket))
            self._queue.remove(ticket)
            held = not given_up()
            self._free -= int(held)
            self._changed.notify_all()
        try:
            yield held
        finally:
            with self._changed:
                self._free += int(held)
                self._changed.notify_all()

    def wake(self) -> None:
        """Let each waiter check again whether it has given up."""
        with self._changed:
            self._changed.notify_all()

    def _is_next(self, ticket: object) -> bool:
        return self._free > 0 and self._queue[0] is ticket
