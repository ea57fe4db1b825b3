"""The syncs that an overlord process holds until there is news, and the wake-ups of them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from supervisor.control.wakeups import Wakeups
from tasks.contract.messages import SyncRequest
from tests.simulation.world.kernel import Process
from tests.simulation.world.network import Reply


class Broadcast(Wakeups):
    """Wakes the long polls that this process holds for the workers that are meant."""

    def __init__(self, woken: Callable[[Callable[[str], bool]], None]) -> None:
        super().__init__()
        self._woken = woken

    def notify(self, names: Collection[str] | None = None) -> None:
        self._woken(lambda name: names is None or name in names)

    def notify_but(self, names: Collection[str]) -> None:
        self._woken(lambda name: name not in names)


@dataclass(eq=False)
class HeldSync:
    """A sync that is looked at, or waits."""

    request: SyncRequest
    reply: Reply
    until: float
    source: Process
    life: int
    is_looking: bool = False
    is_woken: bool = False
    """Woken since its last look began."""
