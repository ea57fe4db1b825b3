"""The port to artifacts: outputs of steps that are too large for a record.

runner ─► put ─► the record names it ─► read: by a later step, by people
            └ the record never came: an orphan, deleted when it is old
"""

from typing import Protocol

from supervisor.core.flows.artifacts import Artifact

__all__ = ["ArtifactStore", "ArtifactsFull"]


class ArtifactsFull(Exception):
    """The artifacts of an execution would be more than it may have."""


class ArtifactStore(Protocol):
    """Safe to use from many threads; each use raises `StoreAway` or `StoreRefuses`."""

    def put(self, execution: str, artifact: Artifact) -> None:
        """Store what a step of an execution gave; what is there already is left as it is.

        Raises:
            ArtifactsFull: nothing is stored.
        """
        ...

    def get(self, artifact_id: str) -> Artifact | None:
        """Return an artifact; None: there is none, or not any more."""
        ...
