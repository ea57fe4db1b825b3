"""The result of a verification: a verdict per range, and named findings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from supervisor.verify.runs import Runs
from tasks.contract.offsets import TopicPartition

RUNS_SHOWN_MAX = 10
"""The maximum of offset runs that a finding lists; `records` counts all."""


class Verdict(StrEnum):
    """The strength of the proof; only the last value is a failure.  Source: protocol rule P25."""

    PROVEN = "proven"
    OFFSETS_ONLY = "offsets only"
    """Kafka no longer has the records, the rows carry no offsets, or they were dropped on purpose:
    what is left is checked by ranges and numbers."""
    VIOLATED = "violated"


_ORDER = (Verdict.PROVEN, Verdict.OFFSETS_ONLY, Verdict.VIOLATED)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the weakest of several verdicts; of none, proven."""
    return max(verdicts, key=_ORDER.index, default=Verdict.PROVEN)


class FindingKind(StrEnum):
    """A kind of finding; the names are stable, for programs."""

    LOST_WRITE = "lost-write"
    """A record of the topic, in a published range, is neither a row nor rejected."""
    DUPLICATE = "duplicate"
    """A record is in the table more than once, or both a row and rejected."""
    GAP = "gap"
    """Committed offsets that no publication covers and no declaration explains."""
    OVERLAP = "overlap"
    """Offsets that several publications cover, or that lie outside of the committed ones."""
    UNKNOWN_ROW = "unknown-row"
    """A row, or a reject, whose offset the topic does not have, or is not of its range."""
    DIGEST_MISMATCH = "digest-mismatch"
    """A file is not the one that was published."""
    MISSING_FILE = "missing-file"
    """A published file is not there."""
    ROW_COUNT = "row-count"
    """A number on record is not the number of rows."""


@dataclass(frozen=True)
class Finding:
    """One finding: its kind and its place."""

    kind: FindingKind
    detail: str
    generation_id: str | None = None
    partition: TopicPartition | None = None
    records: int = 0
    """The number of affected records, where it is known."""
    runs: tuple[tuple[int, int], ...] = ()
    """The first affected offsets, as runs `[first, end)`."""

    @classmethod
    def at(
        cls,
        kind: FindingKind,
        partition: TopicPartition,
        offsets: Runs,
        detail: str,
        generation_id: str | None = None,
    ) -> "Finding":
        """Return a finding about these offsets of a partition."""
        shown = tuple(run for run, _ in zip(offsets, range(RUNS_SHOWN_MAX), strict=False))
        return cls(kind, detail, generation_id, partition, offsets.count(), shown)


@dataclass(frozen=True)
class RangeVerdict:
    """The verdict on one published range of one partition."""

    generation_id: str
    task_id: str
    start: int
    end: int
    verdict: Verdict
    rows: int
    rejected: int
    why: str = ""


@dataclass(frozen=True)
class PartitionVerdict:
    """The verdict on one partition."""

    partition: TopicPartition
    first_offset: int
    next_offset: int
    verdict: Verdict
    ranges: tuple[RangeVerdict, ...]
    findings: tuple[Finding, ...]
    records: int
    """Records of the topic that are a row or a reject, or are counted by rolled-up rows."""
    unproven: int
    """Offsets that Kafka no longer has."""
    lost: int
    duplicated: int
    rejected: int
    declared: int
    """Offsets that are declared skipped, lost or repeated."""
    dropped: int = 0
    """Rows that were dropped from the table on purpose."""
    counted: int = 0
    """Records that rolled-up rows stand for, known by number only."""


@dataclass(frozen=True)
class Verification:
    """The verdict on one supervisor's part of a table."""

    supervisor_id: str
    verdict: Verdict
    partitions: tuple[PartitionVerdict, ...]
    findings: tuple[Finding, ...]
    publications: int
    notes: tuple[str, ...] = field(default=())
    quarantined: int = 0
    """Bad records in the errors table."""

    def total(self, name: str) -> int:
        """Return the sum of one number of `PartitionVerdict` over all partitions."""
        return sum(int(getattr(each, name)) for each in self.partitions)

    def summary(self) -> str:
        """Return the last line of `tidegate verify`."""
        text = (
            f"{self.supervisor_id}: {self.verdict}: {self.total('records')} records in "
            f"{len({p.partition for p in self.partitions})} partitions, {self.total('lost')} lost, "
            f"{self.total('duplicated')} duplicated ({self.publications} publications, "
            f"{self.total('rejected')} rejected and explained"
        )
        for number, what in (
            (self.quarantined, "of them quarantined"),
            (self.total("counted"), "counted only, because their rows are rolled up"),
            (self.total("unproven"), "offsets no longer in Kafka"),
            (self.total("declared"), "offsets declared skipped, lost or repeated"),
            (self.total("dropped"), "rows dropped on purpose"),
            (len(self.findings), "findings"),
        ):
            text += f", {number} {what}" if number else ""
        return text + ")"

    def to_dict(self) -> dict[str, object]:
        """Return the whole verdict as JSON values."""
        totals = (
            *("records", "lost", "duplicated", "rejected"),
            *("unproven", "declared", "dropped", "counted"),
        )
        return {
            "supervisorId": self.supervisor_id,
            "verdict": self.verdict.value,
            **{name: self.total(name) for name in totals},
            "quarantined": self.quarantined,
            "publications": self.publications,
            "findings": [_finding(each) for each in self.findings],
            "partitions": [_partition(each) for each in self.partitions],
            "notes": list(self.notes),
        }


def _finding(finding: Finding) -> Mapping[str, object]:
    return {
        "kind": finding.kind.value,
        "detail": finding.detail,
        "generationId": finding.generation_id,
        "partition": None if finding.partition is None else str(finding.partition),
        "records": finding.records,
        "offsets": [{"first": first, "end": end} for first, end in finding.runs],
    }


def _partition(judged: PartitionVerdict) -> Mapping[str, object]:
    return {
        "partition": str(judged.partition),
        "verdict": judged.verdict.value,
        "firstOffset": judged.first_offset,
        "nextOffset": judged.next_offset,
        "records": judged.records,
        "lost": judged.lost,
        "duplicated": judged.duplicated,
        "rejected": judged.rejected,
        "unproven": judged.unproven,
        "declared": judged.declared,
        "dropped": judged.dropped,
        "counted": judged.counted,
        "ranges": [
            {
                "generationId": each.generation_id,
                "taskId": each.task_id,
                "start": each.start,
                "end": each.end,
                "verdict": each.verdict.value,
                "rows": each.rows,
                "rejected": each.rejected,
                "why": each.why,
            }
            for each in judged.ranges
        ],
    }
