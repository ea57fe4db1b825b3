"""The outcome of a dry run: what a POST of a spec would do."""

from dataclasses import dataclass

from supervisor.core.planning.impact import SpecImpact
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
class DryRunOutcome:
    """The verdict on one spec."""

    errors: tuple[FieldError, ...] = ()
    """The errors with which a POST would be refused; empty: it would be accepted."""
    warnings: tuple[str, ...] = ()
    spec: SupervisorSpec | None = None
    """None: the document makes none, or none that the operator allows; nothing may connect."""
    impact: SpecImpact | None = None
    """None: a POST would be refused."""
    exists: bool = False
    """A supervisor with this id exists."""
    seen: Probed | None = None
    """Its topics; None: they cannot be read, or nothing has connected."""
    trouble: str = ""
    """Why they cannot be read; that is no error of the spec."""

    @property
    def valid(self) -> bool:
        """A POST would be accepted."""
        return not self.errors

    @property
    def looked(self) -> bool:
        """Something has connected, or tried to."""
        return self.seen is not None or bool(self.trouble)
