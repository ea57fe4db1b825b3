"""Coverage: what became of each offset of a supervisor, as runs of offsets that add up.  Pure.

    committed    ├──────────────────────────────────────────┤ next offset
    publications ├── 1 ──┼─ 2 ─┤        ├── 3 ──┤   ├── 4 ──┤
    declared                   ├─ lost ─┤
    runs         ├─ published ─┼─ lost ─┼ publ. ┼ ? ┼ publ. ┤ ├─ publishing ─┼─ reading ─►

Publications and committed offsets are two witnesses.  What the offsets claim, and neither a
publication nor a declaration has, is unexplained; so is what several publications have unless
somebody had it read again.  `tidegate verify` goes further: it reads the records and the rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from supervisor.core.history.coverage.publications import Published
from supervisor.core.history.coverage.strands import (
    NOTHING,
    UNKNOWN,
    CoverageKind,
    Depth,
    OffsetRun,
    Strand,
    Tally,
    clipped,
    tallies,
)
from supervisor.core.model.rows import (
    CommittedOffset,
    GapKind,
    Generation,
    GenerationState,
    OffsetGap,
)
from tasks.contract.offsets import Offsets, TopicPartition


@dataclass(frozen=True)
class PartitionCoverage:
    """The runs of one partition, in order, without what nobody has begun to read."""

    committed: CommittedOffset
    runs: tuple[OffsetRun, ...]
    recreated_at: datetime | None
    """When the topic was last taken up as a new one: older offsets are of the earlier topic."""
    strands: tuple[Strand, ...] = ()
    live: tuple[Strand, ...] = ()
    """One per generation that is not published."""
    earlier: tuple[tuple[OffsetRun, Tally], ...] = ()
    """The offsets of earlier topics of the name, the oldest first."""

    def shown(self, first: int | None, end: int | None) -> list[tuple[OffsetRun, Tally]]:
        """Return the runs in `[first, end)`, each with its tally; None: without that bound.

        Runs of earlier topics come first.
        """
        runs = clipped(self.runs, first, end)
        before = [
            (part, tally if part == run else UNKNOWN)
            for run, tally in self.earlier
            for part in clipped([run], first, end)
        ]
        return [*before, *zip(runs, tallies(runs, self.strands, self.live), strict=True)]

    def counts(self) -> Counter[CoverageKind]:
        """Return kind -> number of offsets."""
        counts: Counter[CoverageKind] = Counter()
        for run in self.runs:
            counts[run.kind] += run.end - run.first
        return counts


def coverage_of(
    committed: Mapping[TopicPartition, CommittedOffset],
    published: Published,
    gaps: Sequence[OffsetGap],
    live: Sequence[Generation],
    positions: Mapping[str, Offsets],
) -> list[PartitionCoverage]:
    """Return the coverage of each partition with committed offsets, by partition.

    `live`: the generations that are not published, `positions`: generation -> the furthest offset
    that a replica has read, where it is known.
    """
    return [
        _covered(committed[partition], published, gaps, list(_live(live, positions, partition)))
        for partition in sorted(committed)
    ]


def _covered(
    row: CommittedOffset, published: Published, gaps: Sequence[OffsetGap], live: list[OffsetRun]
) -> PartitionCoverage:
    partition = row.partition
    depths, declared = published.depths.get(partition, ()), _declared(gaps, partition)
    topics = [gap for gap in gaps if gap.kind is GapKind.RECREATED and gap.partition == partition]
    return PartitionCoverage(
        row,
        tuple(_runs(row, depths, declared, live)),
        topics[-1].at if topics else None,
        published.strands.get(partition, ()),
        tuple(Strand(run.first, run.end, Tally(None, None, 1)) for run in live),
        tuple(
            (
                OffsetRun(gap.first, gap.end, CoverageKind.RECREATED),
                published.earlier.get((partition, number), NOTHING),
            )
            for number, gap in enumerate(topics)
        ),
    )


def _declared(gaps: Sequence[OffsetGap], partition: TopicPartition) -> list[OffsetGap]:
    """Return what was declared of a partition's topic as it is now."""
    declared: list[OffsetGap] = []
    for gap in gaps:
        if gap.partition != partition:
            continue
        if gap.kind is GapKind.RECREATED:
            declared = []
        else:
            declared.append(gap)
    return declared


def _live(
    live: Sequence[Generation], positions: Mapping[str, Offsets], partition: TopicPartition
) -> Iterator[OffsetRun]:
    for generation in live:
        if partition not in generation.start:
            continue
        first = generation.start[partition]
        if generation.state is GenerationState.PUBLISHING and generation.end is not None:
            yield OffsetRun(first, generation.end[partition], CoverageKind.PUBLISHING)
        elif generation.open:
            end = positions.get(generation.id, {}).get(partition, first)
            yield OffsetRun(first, end, CoverageKind.READING)


def _runs(
    row: CommittedOffset,
    depths: Sequence[Depth],
    declared: Sequence[OffsetGap],
    live: Sequence[OffsetRun],
) -> Iterator[OffsetRun]:
    """Yield the runs of a partition: neighbours of one kind are one run."""
    ends = {row.first_offset, row.next_offset}
    for first, end in _bounds(depths, declared, live):
        ends |= {first, end}
    last: OffsetRun | None = None
    for first, end in pairwise(sorted(ends)):
        kind = _kind(first, row, depths, declared, live)
        if kind is None:
            continue
        if last is not None and last.end == first and last.kind is kind:
            last = OffsetRun(last.first, end, kind)
            continue
        if last is not None:
            yield last
        last = OffsetRun(first, end, kind)
    if last is not None:
        yield last


def _bounds(
    depths: Sequence[Depth], declared: Sequence[OffsetGap], live: Sequence[OffsetRun]
) -> Iterator[tuple[int, int]]:
    yield from ((depth.first, depth.end) for depth in depths)
    yield from ((gap.first, gap.end) for gap in declared)
    yield from ((run.first, run.end) for run in live)


def _kind(
    at: int,
    row: CommittedOffset,
    depths: Sequence[Depth],
    declared: Sequence[OffsetGap],
    live: Sequence[OffsetRun],
) -> CoverageKind | None:
    """Return what became of the offsets from `at` to the next border; None: nothing yet."""
    kinds = {gap.kind for gap in declared if gap.first <= at < gap.end}
    count = next((depth.ranges for depth in depths if depth.first <= at < depth.end), 0)
    if row.first_offset <= at < row.next_offset:
        if count == 1:
            return CoverageKind.PUBLISHED
        if count:
            repeated = GapKind.REPEATED in kinds
            return CoverageKind.REPEATED if repeated else CoverageKind.UNEXPLAINED
        if GapKind.LOST in kinds:
            return CoverageKind.LOST
        return CoverageKind.SKIPPED if GapKind.SKIPPED in kinds else CoverageKind.UNEXPLAINED
    if count:  # published, and the committed offset was set back before it
        return CoverageKind.REPEATED if GapKind.REPEATED in kinds else CoverageKind.UNEXPLAINED
    return next((run.kind for run in live if run.first <= at < run.end), None)
