"""The places for finishing on one worker: nobody waits in it, whoever has none is called later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tasks.worker.finishing_slots import FinishingSlots
from tests.simulation.processes.actor import Actor


class SimGate(FinishingSlots):
    """Lets so many actors in at a time, in order of arrival."""

    def __init__(self, places: int, later: Callable[[Callable[[], None]], None]) -> None:
        super().__init__(places)
        self._places = places
        self._later = later
        self._inside: list[Actor] = []
        self._outside: list[Actor] = []

    @contextmanager
    def place(self, given_up: Callable[[], bool]) -> Iterator[bool]:
        """Let the product's runner in: its actor has a place already."""
        del given_up
        yield True

    def enter(self, actor: Actor) -> bool:
        """Take a place; False: there is none yet."""
        if actor in self._inside:
            return True
        if len(self._inside) < self._places:
            self._inside.append(actor)
            return True
        if actor not in self._outside:
            self._outside.append(actor)
        return False

    def leave(self, actor: Actor) -> None:
        """Give a place back, if it has one, and call who waits."""
        if actor in self._inside:
            self._inside.remove(actor)
            if self._outside:
                self._later(self._outside.pop(0).go_on)
