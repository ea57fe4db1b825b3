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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from supervisor.core.model.rows import (
    CommittedOffset,
    GapKind,
    Generation,
    GenerationState,
    OffsetGap,
)
from supervisor.core.values.ids import ordinal_of
from tasks.contract.offsets import Offsets, TopicPartition

OVERLAP = timedelta(hours=1)
"""How far back publications are read again: two leaders' clocks, and two groups' transactions, may
give a later publication an earlier time."""


class CoverageKind(StrEnum):
    """What became of the offsets of a run."""

    PUBLISHED = "published"
    PUBLISHING = "publishing"
    """A range's end is fixed there; it is not published yet."""
    READING = "reading"
    """A replica has read it; the range is still open."""
    SKIPPED = "skipped"
    LOST = "lost"
    REPEATED = "repeated"
    """Published and declared to be read again: rows are in the table more than once, or will be."""
    UNEXPLAINED = "unexplained"


class CoveredRange(NamedTuple):
    """What coverage needs of a publication."""

    generation_id: str
    published_at: datetime
    start: Offsets
    end: Offsets
    rows: int
    rejected: int
    ranges: int


class OffsetRun(NamedTuple):
    """Offsets `[first, end)` and what became of them."""

    first: int
    end: int
    kind: CoverageKind


class Depth(NamedTuple):
    """Offsets `[first, end)` that `ranges` publications have."""

    first: int
    end: int
    ranges: int


@dataclass(frozen=True)
class Published:
    """Publications, put together: partition -> how many of them have which offsets."""

    depths: Mapping[TopicPartition, tuple[Depth, ...]] = field(default_factory=dict)
    recent: Mapping[str, datetime] = field(default_factory=dict)
    """Generation -> time of the publication, of those that the next read meets again."""
    recreated: frozenset[tuple[TopicPartition, datetime]] = frozenset()
    """The declarations of new topics that were known."""
    rows: int = 0
    rejected: int = 0
    ranges: int = 0

    @property
    def since(self) -> datetime | None:
        """From when on publications have to be read; None: all."""
        return max(self.recent.values()) - OVERLAP if self.recent else None

    def is_of(self, gaps: Iterable[OffsetGap]) -> bool:
        """Whether no topic was recreated since: its earlier publications cover nothing."""
        return self.recreated == _declarations(gaps)


@dataclass(frozen=True)
class PartitionCoverage:
    """The runs of one partition, in order, without what nobody has begun to read."""

    committed: CommittedOffset
    runs: tuple[OffsetRun, ...]
    recreated_at: datetime | None
    """When the topic was last taken up as a new one: older offsets are of the earlier topic."""

    def counts(self) -> Counter[CoverageKind]:
        """Return kind -> number of offsets."""
        counts: Counter[CoverageKind] = Counter()
        for run in self.runs:
            counts[run.kind] += run.end - run.first
        return counts


def put_together(
    known: Published, more: Iterable[CoveredRange], gaps: Sequence[OffsetGap]
) -> Published:
    """Return `known` with more publications; those that it has already are left out.

    Publications of an earlier topic are counted as rows, and cover no offset.
    """
    anew = _recreated(gaps)
    added: dict[TopicPartition, list[tuple[int, int]]] = {}
    recent = dict(known.recent)
    rows, rejected, ranges = known.rows, known.rejected, known.ranges
    for each in more:
        if each.generation_id in known.recent:
            continue
        recent[each.generation_id] = each.published_at
        rows += each.rows
        rejected += each.rejected
        ranges += each.ranges
        for partition, first in each.start.items():
            end = each.end[partition]
            if first < end and _is_later(each, anew.get(partition)):
                added.setdefault(partition, []).append((first, end))
    depths = dict(known.depths)
    for partition, intervals in added.items():
        depths[partition] = _added(depths.get(partition, ()), intervals)
    since = max(recent.values()) - OVERLAP if recent else None
    kept = {name: at for name, at in recent.items() if since is None or at >= since}
    return Published(depths, kept, _declarations(gaps), rows, rejected, ranges)


def _recreated(gaps: Iterable[OffsetGap]) -> dict[TopicPartition, OffsetGap]:
    return {gap.partition: gap for gap in gaps if gap.kind is GapKind.RECREATED}


def _declarations(gaps: Iterable[OffsetGap]) -> frozenset[tuple[TopicPartition, datetime]]:
    return frozenset((p, gap.at) for p, gap in _recreated(gaps).items())


def _is_later(published: CoveredRange, gap: OffsetGap | None) -> bool:
    """Whether a publication has offsets of the topic as it is now."""
    if gap is None:
        return True
    if gap.last_ordinal is None:  # an earlier release declared it
        return published.published_at > gap.at
    return ordinal_of(published.generation_id) > gap.last_ordinal


def _added(known: Sequence[Depth], intervals: Sequence[tuple[int, int]]) -> tuple[Depth, ...]:
    """Return the depths with more intervals; most follow each other, and the last known one."""
    changes: Counter[int] = Counter()
    for first, end, count in [*known, *((first, end, 1) for first, end in intervals)]:
        changes[first] += count
        changes[end] -= count
    depths: list[Depth] = []
    count = 0
    for first, end in pairwise(sorted(changes)):
        count += changes[first]
        if not count:
            continue
        if depths and depths[-1].end == first and depths[-1].ranges == count:
            depths[-1] = Depth(depths[-1].first, end, count)
        else:
            depths.append(Depth(first, end, count))
    return tuple(depths)


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
    anew = _recreated(gaps)
    return [
        PartitionCoverage(
            committed[partition],
            tuple(
                _runs(
                    committed[partition],
                    published.depths.get(partition, ()),
                    _declared(gaps, partition),
                    list(_live(live, positions, partition)),
                )
            ),
            anew[partition].at if partition in anew else None,
        )
        for partition in sorted(committed)
    ]


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


def clipped(runs: Iterable[OffsetRun], first: int | None, end: int | None) -> list[OffsetRun]:
    """Return the parts of runs that lie in `[first, end)`; None: without that bound."""
    parts = (
        OffsetRun(
            run.first if first is None else max(run.first, first),
            run.end if end is None else min(run.end, end),
            run.kind,
        )
        for run in runs
    )
    return [part for part in parts if part.first < part.end]
