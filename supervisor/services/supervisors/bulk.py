"""Bulk verbs: suspend, resume or terminate every supervisor, one guarded change for each."""

from collections.abc import Callable
from dataclasses import dataclass

from supervisor.core.values.errors import AlreadyInState, SpecUnreadable, SupervisorNotFound
from supervisor.services.supervisors.specs import Service


@dataclass(frozen=True)
class BulkVerbs:
    """The bulk verbs; a supervisor that is in the wanted state, or gone by then, is skipped.

    Each supervisor has a transaction and an audit row of its own, so an interrupted call can simply
    be repeated.
    """

    service: Service

    def suspend(self, author: str) -> list[str]:
        """Suspend every running supervisor; return their ids."""
        return self._each(lambda found: self.service.suspend(found, author))

    def resume(self, author: str) -> list[str]:
        """Resume every suspended supervisor; return their ids."""
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
