"""The port to stored triggers; they lie in the database of executions, and share its transactions.

A firing is a row: a slot, a publish or a request is taken once, whoever leads.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.flows.stored_triggers import Firing, StoredTrigger

__all__ = ["FIRINGS_KEPT", "REQUESTS_KEPT", "TriggerReads", "TriggerRows"]

FIRINGS_KEPT = 1_000
"""Firings of a trigger that are kept, besides those that wait.

An event that is handed out again is one of the last batch: far fewer than these.
"""
REQUESTS_KEPT = 100_000
"""Requests to a webhook that are kept; each goes with its execution, and so before that."""


class TriggerReads(Protocol):
    """What can be read."""

    def of_flow(self, flow: str) -> Sequence[StoredTrigger]:
        """Return the triggers of a flow, by name."""
        ...

    def find(self, flow: str, name: str) -> StoredTrigger | None:
        """Return one trigger; None: there is none."""
        ...

    def published(self) -> Sequence[StoredTrigger]:
        """Return all triggers of the type `published`, by flow and name."""
        ...

    def due(self, now: datetime, limit: int) -> Sequence[StoredTrigger]:
        """Return triggers with a slot up to now, those that wait longest first."""
        ...

    def waiting(self) -> Sequence[StoredTrigger]:
        """Return triggers with publishes that wait, and that are not paused."""
        ...

    def firing(self, flow: str, name: str, slot: str) -> Firing | None:
        """Return what a trigger has taken under this name; None: nothing."""
        ...

    def firings(self, flow: str, name: str, limit: int) -> Sequence[Firing]:
        """Return what a trigger has taken, newest first."""
        ...

    def waiting_firings(self, flow: str, name: str, limit: int) -> Sequence[Firing]:
        """Return publishes that wait, oldest first."""
        ...


class TriggerRows(TriggerReads, Protocol):
    """What can be read and written."""

    def put(self, trigger: StoredTrigger) -> None:
        """Store a trigger, a new one or one that is there."""
        ...

    def remove(self, flow: str, name: str) -> None:
        """Remove a trigger and its firings."""
        ...

    def take(self, trigger: StoredTrigger, firing: Firing) -> None:
        """Store a firing; old ones go: beyond `FIRINGS_KEPT`, of webhooks `REQUESTS_KEPT`."""
        ...

    def name_execution(self, trigger: StoredTrigger, slots: Sequence[str], execution: str) -> None:
        """Say which execution names firings that have waited."""
        ...

    def drop_waiting(self, flow: str, name: str) -> None:
        """Remove the firings of a trigger that wait."""
        ...
