"""Suspend, resume and terminate every supervisor there is: one guarded change for each."""

from collections.abc import Callable
from dataclasses import dataclass

from supervisor.core.values.errors import AlreadyInState, SpecUnreadable, SupervisorNotFound
from supervisor.services.supervisors.specs import Service


@dataclass(frozen=True)
class BulkVerbs:
    """The verbs; what stands so already, or is gone by then, is passed over.

    Each supervisor has a transaction and an audit row of its own: a call that was cut off is
    simply made again.
    """

    service: Service

    def suspend(self, author: str) -> list[str]:
        """Suspend every supervisor that runs; return their ids."""
        return self._each(lambda found: self.service.suspend(found, author))

    def resume(self, author: str) -> list[str]:
        """Resume every supervisor that is suspended; return their ids."""
        return self._each(lambda found: self.service.resume(found, author))

    def terminate(self, author: str) -> list[str]:
        """End every supervisor; return their ids."""
        return self._each(lambda found: self.service.terminate(found, author))

    def _each(self, change: Callable[[str], object]) -> list[str]:
        self.service.require_leader()  # also where there is nothing to change
        changed = []
        for supervisor_id in self.service.supervisor_ids():
            try:
                change(supervisor_id)
            except (AlreadyInState, SpecUnreadable, SupervisorNotFound):
                continue
            changed.append(supervisor_id)
        return changed
