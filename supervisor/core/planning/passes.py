"""One pass over a supervisor as a value: what was seen and decided, or why it failed."""

from dataclasses import dataclass
from datetime import datetime

from supervisor.core.planning.actions import (
    Plan,
)
from supervisor.core.planning.observed import Observed


@dataclass(frozen=True)
class PassError:
    """A pass that failed: shown as a recent error of its supervisor."""

    at: datetime
    kind: str
    message: str


@dataclass(frozen=True)
class Pass:
    """One pass: what was seen, what was decided."""

    seen: Observed
    decided: Plan
