"""Response model of coverage: what became of each offset of a supervisor, and the sum of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from supervisor.core.history.coverage.partitions import PartitionCoverage
from supervisor.core.history.coverage.publications import Published
from supervisor.core.history.coverage.strands import CoverageKind, OffsetRun, Tally
from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.wire import Instant, Wire

RUNS_MAX = 1_000
"""Runs of one partition that are shown, the newest ones."""


@dataclass(frozen=True)
class CoverageWindow:
    """What of a supervisor's coverage is wanted; None: without that bound."""

    topic: str | None = None
    partition: int | None = None
    first: int | None = None
    """The offset from which on runs are shown."""
    end: int | None = None
    """The offset before which runs are shown."""


class CoverageRun(Wire):
    """Offsets `[from, to)` and what became of them."""

    first: int = Field(alias="from")
    to: int
    kind: CoverageKind
    rows: int | None
    """Rows of the ranges that have exactly these offsets; null: the ledger does not know them, as
    where they are not published, or where a range has records of other partitions, or goes on
    beyond the run, too."""
    rejected: int | None
    """Records that these ranges could not read, as of `rows`."""
    generations: int | None
    """Ranges with these offsets: published ones, or those that read or publish them now; null:
    one of them goes on beyond the run, as where a part was read again."""


class CoverageCounts(Wire):
    """Numbers of offsets.

    Without what is set back and read again,
    `committed = published + repeated + skipped + lost + unexplained`.
    """

    committed: int
    """From the first offset to the next one to be read and not published yet."""
    published: int
    publishing: int
    reading: int
    skipped: int
    lost: int
    repeated: int
    unexplained: int
    """Committed without a publication or declaration, or published more often than declared."""


class CoveredPartition(Wire):
    """The coverage of one partition."""

    topic: str
    partition: int
    first_offset: int
    next_offset: int
    recreated_at: Instant | None
    """When the topic was taken up as a new one: older publications are of the earlier topic."""
    counts: CoverageCounts
    """Of the whole partition, whatever offsets are asked for."""
    runs: list[CoverageRun]
    """In the order of offsets; at most 1,000, the newest ones.  Those of the kind `recreated` come
    first: they are of earlier topics of this name, and may have the offsets of later runs."""
    more: bool
    """Whether older runs are left out."""


class CoverageView(Wire):
    """What became of each offset of a supervisor."""

    supervisor_id: str
    data_source: str
    at: Instant
    complete: bool
    """Nothing is unexplained.  `tidegate verify` compares records and rows, too."""
    counts: CoverageCounts
    """Of all partitions, whatever is asked for."""
    rows: int
    """Rows of all publications, of earlier topics as well."""
    rejected: int
    ranges: int
    """Published ranges."""
    partitions: list[CoveredPartition]


def coverage_view(
    spec: SupervisorSpec,
    now: datetime,
    published: Published,
    partitions: Sequence[PartitionCoverage],
    window: CoverageWindow,
) -> CoverageView:
    """Return the response; counts are those of all partitions and offsets."""
    total = _counts(partitions)
    return CoverageView(
        supervisor_id=spec.id,
        data_source=spec.data_source,
        at=now,
        complete=not total.unexplained,
        counts=total,
        rows=published.rows,
        rejected=published.rejected,
        ranges=published.ranges,
        partitions=[
            _partition(each, window)
            for each in partitions
            if window.topic in {None, each.committed.partition.topic}
            and window.partition in {None, each.committed.partition.partition}
        ],
    )


def _partition(each: PartitionCoverage, window: CoverageWindow) -> CoveredPartition:
    row = each.committed
    runs = each.shown(window.first, window.end)
    return CoveredPartition(
        topic=row.partition.topic,
        partition=row.partition.partition,
        first_offset=row.first_offset,
        next_offset=row.next_offset,
        recreated_at=each.recreated_at,
        counts=_counts([each]),
        runs=[_run(run, tally) for run, tally in runs[-RUNS_MAX:]],
        more=len(runs) > RUNS_MAX,
    )


def _run(run: OffsetRun, tally: Tally) -> CoverageRun:
    return CoverageRun(
        first=run.first,
        to=run.end,
        kind=run.kind,
        rows=tally.rows,
        rejected=tally.rejected,
        generations=tally.ranges,
    )


def _counts(partitions: Iterable[PartitionCoverage]) -> CoverageCounts:
    counts: Counter[str] = Counter()
    for each in partitions:
        counts["committed"] += each.committed.next_offset - each.committed.first_offset
        for kind, number in each.counts().items():
            counts[kind.value] += number
    counted = [kind for kind in CoverageKind if kind is not CoverageKind.RECREATED]
    kinds = {kind.value: counts[kind.value] for kind in counted}
    return CoverageCounts(committed=counts["committed"], **kinds)
