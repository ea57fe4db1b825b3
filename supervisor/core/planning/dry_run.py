"""The verdict of a dry run: what a POST of a spec would do."""

from dataclasses import dataclass, field

from supervisor.core.planning.restarts import Restarts
from supervisor.core.spec.changes import NO_CHANGES, Changes
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError
from tasks.contract.offsets import Offsets


@dataclass(frozen=True)
class Probed:
    """The partitions of a spec's topics."""

    earliest: Offsets
    latest: Offsets
    """High watermarks."""
    stable: Offsets
    """Last stable offsets: where reading ends."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one spec."""

    errors: tuple[FieldError, ...] = ()
    """The errors with which a POST would be refused; empty: it would be accepted."""
    warnings: tuple[str, ...] = ()
    spec: SupervisorSpec | None = None
    """None: the document makes none, or none that the operator allows; nothing may connect."""
    changes: Changes = field(default=NO_CHANGES)
    """The changes against the stored version; none without a stored version."""
    exists: bool = False
    """A supervisor with this id exists."""
    seen: Probed | None = None
    """Its topics; None: they cannot be read, or nothing has connected."""
    trouble: str = ""
    """Why they cannot be read; that is no error of the spec."""
    restarts: Restarts = Restarts.NONE
    """What would be stopped or handed off."""
    summary: str = "the spec would be refused: nothing changes"
    """The effect of a POST, in words."""

    @property
    def valid(self) -> bool:
        """A POST would be accepted."""
        return not self.errors

    @property
    def looked(self) -> bool:
        """Something has connected, or tried to."""
        return self.seen is not None or bool(self.trouble)
