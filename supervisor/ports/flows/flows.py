"""The port to stored flows; they lie in the database of executions, and share its transactions."""

from collections.abc import Sequence
from typing import Protocol

from supervisor.core.flows.stored import StoredFlow

__all__ = ["FlowReads", "FlowRows"]


class FlowReads(Protocol):
    """What can be read."""

    def newest(self, name: str) -> StoredFlow | None:
        """Return the newest version, a tombstone as well; None: there never was such a flow."""
        ...

    def version(self, name: str, version: int) -> StoredFlow | None:
        """Return one version."""
        ...

    def versions(self, name: str, limit: int, before: int | None = None) -> Sequence[StoredFlow]:
        """Return versions below `before`, newest first."""
        ...

    def page(self, limit: int, after: str = "") -> Sequence[StoredFlow]:
        """Return the newest version of each flow that is not deleted, by name behind `after`."""
        ...


class FlowRows(FlowReads, Protocol):
    """What can be read and written."""

    def add(self, flow: StoredFlow) -> None:
        """Add a version; its number is one more than the newest's."""
        ...
