"""A store of artifacts in memory, which is away when a test says so."""

from dataclasses import dataclass, field

from supervisor.core.flows.artifacts import EXECUTION_BYTES_MAX, Artifact
from supervisor.ports.flows.artifacts import ArtifactsFull
from supervisor.ports.store_problems import StoreAway


@dataclass
class MemoryArtifacts:
    """Implements `ports.flows.artifacts.ArtifactStore`."""

    bytes_max: int = EXECUTION_BYTES_MAX
    stored: dict[str, tuple[str, Artifact]] = field(default_factory=dict)
    away: int = 0
    """How many uses fail from now on."""

    def put(self, execution: str, artifact: Artifact) -> None:
        """Store what a step gave."""
        self._use()
        others = sum(
            one.ref.bytes
            for name, (whose, one) in self.stored.items()
            if whose == execution and name != artifact.ref.id
        )
        if others + artifact.ref.bytes > self.bytes_max:
            raise ArtifactsFull
        self.stored.setdefault(artifact.ref.id, (execution, artifact))

    def get(self, artifact_id: str) -> Artifact | None:
        """Return an artifact."""
        self._use()
        stored = self.stored.get(artifact_id)
        return None if stored is None else stored[1]

    def _use(self) -> None:
        if self.away:
            self.away -= 1
            raise StoreAway("the database does not answer")
