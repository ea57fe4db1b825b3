"""Whether replicas of one range came to the same: a judgement on what they say of it (B11).

    same records, same digest ──► same
    same records, other digest ─► other-rows       an alert: one of them is wrong, or a rule drifts
    other records ──────────────► other-records    told; Kafka itself removes some where it compacts
    no digest, or another end ──► unknown

The winner stays whatever is found: which of the two is right, no digest can tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tasks.contract.digests import comparable
from tasks.contract.messages import Counters, PublishRequest, TaskReport
from tasks.contract.offsets import Offsets


class Comparison(StrEnum):
    """What a comparison found."""

    SAME = "same"
    OTHER_ROWS = "other-rows"
    """Of as many records."""
    OTHER_RECORDS = "other-records"
    """They did not read as many records."""
    UNKNOWN = "unknown"
    """One of them has not read to the end, or does not tell."""

    @property
    def differs(self) -> bool:
        """Whether somebody should hear of it."""
        return self in {Comparison.OTHER_ROWS, Comparison.OTHER_RECORDS}


@dataclass(frozen=True)
class ReplicaDigest:
    """What one replica made of a range, as it says."""

    task_id: str
    end: Offsets
    records: int
    digest: str | None
    """None: it has not read to the end, or does not tell."""


@dataclass(frozen=True)
class Divergence:
    """A replica that came to something else than was published."""

    task_id: str
    digest: str
    records: int
    comparison: Comparison


def read_by(reading: TaskReport | PublishRequest) -> ReplicaDigest:
    """Return what a task says of its range."""
    end = reading.end if isinstance(reading, PublishRequest) else reading.position
    return ReplicaDigest(reading.task_id, end, records_of(reading.counters), reading.digest)


def records_of(counters: Counters) -> int:
    """Return how many records were read: each is a row or was refused."""
    rows = counters.processed + counters.processed_with_error
    return rows + counters.unparseable + counters.thrown_away


def compare(published: ReplicaDigest, other: ReplicaDigest) -> Comparison:
    """Judge what a replica says beside what was published."""
    if published.end != other.end or not comparable(published.digest, other.digest):
        return Comparison.UNKNOWN
    if published.digest == other.digest:
        return Comparison.SAME
    same = published.records == other.records
    return Comparison.OTHER_ROWS if same else Comparison.OTHER_RECORDS


def diverged(published: ReplicaDigest, other: ReplicaDigest) -> Divergence | None:
    """Return how a replica differs from what was published; None: it does not, or cannot tell."""
    comparison = compare(published, other)
    if not comparison.differs or other.digest is None:
        return None
    return Divergence(other.task_id, other.digest, other.records, comparison)


def why_of(published: ReplicaDigest, other: Divergence) -> str:
    """Return what people are told of it, and what to do."""
    if other.comparison is Comparison.OTHER_RECORDS:
        return (
            f"{published.task_id} published {published.records} records, {other.task_id} read "
            f"{other.records} in the same range: a compacted topic may lose some between two "
            "reads; of any other, let `tidegate verify` compare the table with it"
        )
    return (
        f"{other.task_id} made other rows of the same {other.records} records than "
        f"{published.task_id}, whose rows are published: compare their workers (versions of "
        "Tidegate, Java, Spark; memory, disk), then read the range again into a table of its own"
    )


def stored(divergence: Divergence) -> dict[str, str | int]:
    """Return a divergence as JSON."""
    return {
        "task": divergence.task_id,
        "digest": divergence.digest,
        "records": divergence.records,
        "found": divergence.comparison.value,
    }


def read_stored(held: Mapping[str, str | int]) -> Divergence:
    """Read what `stored` returned."""
    return Divergence(
        task_id=str(held["task"]),
        digest=str(held["digest"]),
        records=int(held["records"]),
        comparison=Comparison(str(held["found"])),
    )
