"""The port to the topics that a persister reads, as one member of a group."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ["Feed", "FeedEvents", "FeedPartition", "FeedRecord", "TopicLag"]


class FeedPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


@dataclass(frozen=True, eq=False)
class FeedRecord:
    """A record as it was read."""

    place: FeedPartition
    offset: int
    key: bytes | None
    body: bytes


@dataclass(frozen=True)
class TopicLag:
    """How far a group is behind in one topic; never below 0."""

    records: int
    partitions: int
    unknown: int = 0
    """Partitions whose end or committed offset did not come in time; they are not counted."""
    seconds: float | None = None
    """The age of the oldest record that is not done; 0: there is none; None: it is not known."""


@dataclass(frozen=True)
class FeedEvents:
    """What a feed calls, in the thread that takes records, within `take`."""

    assigned: Callable[[Collection[FeedPartition]], None]
    """These partitions came in addition."""
    revoked: Callable[[Collection[FeedPartition]], None]
    """These go once the call returns; what it commits still counts."""
    lost: Callable[[Collection[FeedPartition]], None]
    """These are read by another member already."""
    skipped: Callable[[FeedPartition, int], None]
    """So many records were deleted by the topic's retention before anybody read them."""


class Feed(Protocol):
    """One consumer; all but `lag` and `trouble` for one thread."""

    trouble: str
    """Why records may not come, for people; empty: none is known."""

    def open(self, events: FeedEvents) -> None:
        """Join the group; partitions come within later calls of `take`."""
        ...

    def take(self, most: int, within_s: float) -> Sequence[FeedRecord]:
        """Return at most `most` records, what has come after `within_s`; call the events.

        Reading begins behind what is committed; where nothing is, or the topic no longer has it,
        at the earliest record.

        Raises:
            StoreAway: the brokers do not answer; the next call tries again.
            StoreRefuses: no further call can succeed, such as after another process has joined
                under this one's name.
        """
        ...

    def pause(self, places: Collection[FeedPartition]) -> None:
        """Take nothing of these partitions, and stay in the group."""
        ...

    def resume(self, places: Collection[FeedPartition]) -> None:
        """Take records of these partitions again."""
        ...

    def commit(self, offsets: Mapping[FeedPartition, int]) -> bool:
        """Commit the next offset of each partition, and return whether that is certain."""
        ...

    def lag(self) -> Mapping[str, TopicLag]:
        """Return topic -> how far the whole group is behind, of all topics that match.

        Raises:
            StoreAway: the brokers do not answer.
        """
        ...

    def close(self) -> None:
        """Leave the group, if it has no static membership, and give back what it holds."""
        ...
