"""Comparison of the digests that the replicas of one range report (B11).

    same count, same digest ──► same
    same count, other digest ─► other-rows       alert: one replica is wrong, or a rule drifts
    other count ──────────────► other-records    alert; normal if Kafka compacts the topic
    no digest, or another end ► unknown

The published rows stay in any case: no digest can tell which replica is right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from supervisor.core.values.counts import grouped
from tasks.contract.digests import comparable
from tasks.contract.messages import Counters, PublishRequest, TaskReport
from tasks.contract.offsets import Offsets


class Comparison(StrEnum):
    """What a comparison found."""

    SAME = "same"
    OTHER_ROWS = "other-rows"
    """The replicas read the same number of records, but their digests differ."""
    OTHER_RECORDS = "other-records"
    """The replicas read different numbers of records."""
    UNKNOWN = "unknown"
    """One replica has not read to the end, or reports no digest."""

    @property
    def differs(self) -> bool:
        """Whether the replicas diverge, so that operators should be alerted."""
        return self in {Comparison.OTHER_ROWS, Comparison.OTHER_RECORDS}


@dataclass(frozen=True)
class ReplicaDigest:
    """The digest that one replica reports of its range."""

    task_id: str
    end: Offsets
    records: int
    digest: str | None
    """None: the replica has not read to the end, or reports no digest."""


@dataclass(frozen=True)
class Divergence:
    """A replica whose digest differs from that of the published range."""

    task_id: str
    digest: str
    records: int
    comparison: Comparison


def read_by(reading: TaskReport | PublishRequest) -> ReplicaDigest:
    """Return the digest in a task's report or publish request."""
    end = reading.end if isinstance(reading, PublishRequest) else reading.position
    return ReplicaDigest(reading.task_id, end, records_of(reading.counters), reading.digest)


def records_of(counters: Counters) -> int:
    """Return the number of records read: each is a row, or was rejected or thrown away."""
    rows = counters.processed + counters.processed_with_error
    return rows + counters.unparseable + counters.thrown_away


def compare(published: ReplicaDigest, other: ReplicaDigest) -> Comparison:
    """Compare the digest of another replica with that of the published one."""
    if published.end != other.end or not comparable(published.digest, other.digest):
        return Comparison.UNKNOWN
    if published.digest == other.digest:
        return Comparison.SAME
    same = published.records == other.records
    return Comparison.OTHER_ROWS if same else Comparison.OTHER_RECORDS


def diverged(published: ReplicaDigest, other: ReplicaDigest) -> Divergence | None:
    """Return the divergence of a replica; None: it does not differ, or the result is unknown."""
    comparison = compare(published, other)
    if not comparison.differs or other.digest is None:
        return None
    return Divergence(other.task_id, other.digest, other.records, comparison)


def why_of(published: ReplicaDigest, other: Divergence) -> str:
    """Return the text of an alert for people: the difference, and what to do about it."""
    if other.comparison is Comparison.OTHER_RECORDS:
        return (
            f"{published.task_id} published {grouped(published.records)} records, {other.task_id} "
            f"read {grouped(other.records)} in the same range: a compacted topic may lose some "
            "between two reads; of any other, let `tidegate verify` compare the table with it"
        )
    return (
        f"{other.task_id} made other rows of the same {grouped(other.records)} records than "
        f"{published.task_id}, whose rows are published: compare their workers (versions of "
        "Tidegate, Java, Spark; memory, disk), then read the range again into a table of its own"
    )


def stored(divergence: Divergence) -> dict[str, str | int]:
    """Return a divergence as the JSON object that is stored."""
    return {
        "task": divergence.task_id,
        "digest": divergence.digest,
        "records": divergence.records,
        "found": divergence.comparison.value,
    }


def read_stored(held: Mapping[str, str | int]) -> Divergence:
    """Return the divergence in an object of `stored`."""
    return Divergence(
        task_id=str(held["task"]),
        digest=str(held["digest"]),
        records=int(held["records"]),
        comparison=Comparison(str(held["found"])),
    )
