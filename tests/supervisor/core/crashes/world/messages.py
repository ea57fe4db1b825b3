"""What travels on the topics of the model."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import ExecutionInput, GateInput
from supervisor.core.executions.reduced import ExecutionEvent

HISTORY = "history"
STATE = "state"
CALLS = "calls"
RESULTS = "results"
DEAD = "dead"
POSITION = "@position"


@dataclass(frozen=True)
class Created:
    """A new execution; a repeat is dropped."""

    execution: Execution


@dataclass(frozen=True)
class Addressed:
    """An input for an execution or a gate."""

    given: ExecutionInput | GateInput


@dataclass(frozen=True)
class Purged:
    """An execution that has ended is not needed any more."""


@dataclass(frozen=True)
class Position:
    """Where a partition goes on, and what was counted up to there."""

    next: int
    last: datetime
    own: int = 0
    """Inputs that the owner has made: times that came, runners that died."""
    versions: int = 0
    purged: int = 0
    drops: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class EventOf:
    """An event of an execution, as listeners get it."""

    execution: str
    event: ExecutionEvent


Letter = Created | Addressed | Purged
