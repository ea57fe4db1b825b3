"""Shared-exclusive lock of the batches of a worker, whose waiters can give up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition


class BatchTurns:
    """Lets batches run side by side, or one of them alone; one that is to run alone goes first."""

    def __init__(self) -> None:
        self._shared = 0
        self._alone = False
        self.waiting_alone = 0
        """Batches that wait to run alone."""
        self._changed = Condition()

    @contextmanager
    def turn(self, *, alone: bool, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Hold a turn while the body runs; False: `given_up` was true before it came."""
        with self._changed:
            self.waiting_alone += int(alone)
            self._changed.wait_for(lambda: given_up() or self._is_free(alone=alone))
            self.waiting_alone -= int(alone)
            held = not given_up()
            self._take(alone=alone, held=held, back=False)
        try:
            yield held
        finally:
            with self._changed:
                self._take(alone=alone, held=held, back=True)

    def wake(self) -> None:
        """Let each waiter check again whether it has given up."""
        with self._changed:
            self._changed.notify_all()

    def _is_free(self, *, alone: bool) -> bool:
        if self._alone:
            return False
        return self._shared == 0 if alone else self.waiting_alone == 0

    def _take(self, *, alone: bool, held: bool, back: bool) -> None:
        if held and alone:
            self._alone = not back
        elif held:
            self._shared += -1 if back else 1
        self._changed.notify_all()
