"""A replay of bad records: its request and its outcome, as they are kept with its operation."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReplayRequest:
    """Which bad records of a supervisor are sent, and where."""

    topic: str
    """The target."""
    mark: str
    """A token in a header of each record that is sent: after a crash it shows what was sent."""
    reason: str | None = None
    """Only records with this reason; None: all."""
    partition: int | None = None
    """Only records that were in this partition; None: all."""
    most: int = 10_000
    """The number of records that are sent at most."""
    keep_time: bool = False
    """Whether records keep their time in Kafka; a topic may delete old records at once."""


@dataclass(frozen=True)
class ReplayOutcome:
    """The result of a replay that is over."""

    sent: int = 0
    there: int = 0
    """Records that the topic had already."""
    more: bool = False
    """Whether there are more records than were sent."""
    ends: Mapping[int, int] = field(default_factory=dict)
    """Partition -> end offset of the topic after the replay."""
    problem: str = ""
    """Why nothing was sent; empty: the replay is done."""
