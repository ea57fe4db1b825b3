"""Publications of a supervisor, put together by partition, as they are kept between questions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from supervisor.core.history.coverage.strands import (
    NOTHING,
    Depth,
    Strand,
    Tally,
    both,
    depths_of,
    joined,
)
from supervisor.core.model.rows import GapKind, OffsetGap
from supervisor.core.values.ids import ordinal_of
from tasks.contract.offsets import Offsets, TopicPartition

OVERLAP = timedelta(hours=1)
"""How far back publications are read again: two leaders' clocks, and two groups' transactions, may
give a later publication an earlier time."""


class CoveredRange(NamedTuple):
    """What coverage needs of a publication."""

    generation_id: str
    published_at: datetime
    start: Offsets
    end: Offsets
    rows: int
    rejected: int
    ranges: int


@dataclass(frozen=True)
class Published:
    """Publications, put together: partition -> strands, of the topic as it is now."""

    strands: Mapping[TopicPartition, tuple[Strand, ...]] = field(default_factory=dict)
    earlier: Mapping[tuple[TopicPartition, int], Tally] = field(default_factory=dict)
    """Partition, and number of an earlier topic -> what was published of it; 0: the first one."""
    recent: Mapping[str, datetime] = field(default_factory=dict)
    """Generation -> time of the publication, of those that the next read meets again."""
    recreated: frozenset[tuple[TopicPartition, datetime]] = frozenset()
    """The declarations of new topics that were known."""
    rows: int = 0
    rejected: int = 0
    ranges: int = 0

    @cached_property
    def depths(self) -> Mapping[TopicPartition, tuple[Depth, ...]]:
        """How many publications have which offsets, by partition."""
        return {partition: depths_of(strands) for partition, strands in self.strands.items()}

    @property
    def since(self) -> datetime | None:
        """From when on publications have to be read; None: all."""
        return max(self.recent.values()) - OVERLAP if self.recent else None

    def is_of(self, gaps: Iterable[OffsetGap]) -> bool:
        """Whether no topic was recreated since: its earlier publications cover nothing."""
        return self.recreated == _declarations(gaps)


def put_together(
    known: Published, more: Iterable[CoveredRange], gaps: Sequence[OffsetGap]
) -> Published:
    """Return `known` with more publications; those that it has already are left out.

    Publications of an earlier topic are counted as rows, and cover no offset.
    """
    anew = recreations(gaps)
    added: dict[TopicPartition, list[Strand]] = {}
    earlier = dict(known.earlier)
    recent = dict(known.recent)
    rows, rejected, ranges = known.rows, known.rejected, known.ranges
    for each in sorted(more, key=lambda each: (each.published_at, each.generation_id)):
        if each.generation_id in known.recent:
            continue
        recent[each.generation_id] = each.published_at
        rows += each.rows
        rejected += each.rejected
        ranges += each.ranges
        for partition, first, end, tally in _pieces(each):
            topics = anew.get(partition, [])
            number = sum(_is_later(each, gap) for gap in topics)
            if number == len(topics):
                added.setdefault(partition, []).append(Strand(first, end, tally))
            else:
                of_it = (partition, number)
                earlier[of_it] = both(earlier.get(of_it, NOTHING), tally)
    strands = dict(known.strands)
    for partition, newer in added.items():
        strands[partition] = joined(strands.get(partition, ()), newer)
    since = max(recent.values()) - OVERLAP if recent else None
    kept = {name: at for name, at in recent.items() if since is None or at >= since}
    return Published(strands, earlier, kept, _declarations(gaps), rows, rejected, ranges)


def _pieces(each: CoveredRange) -> Iterator[tuple[TopicPartition, int, int, Tally]]:
    """Yield partition, first offset, end and tally, of each partition with records."""
    pieces = [(p, first, each.end[p]) for p, first in each.start.items() if first < each.end[p]]
    is_alone = len(pieces) == 1
    rows = each.rows if is_alone or not each.rows else None
    rejected = each.rejected if is_alone or not each.rejected else None
    for piece in pieces:
        yield *piece, Tally(rows, rejected, each.ranges)


def recreations(gaps: Iterable[OffsetGap]) -> dict[TopicPartition, list[OffsetGap]]:
    """Return the declarations of new topics by partition, each list the oldest first."""
    again: defaultdict[TopicPartition, list[OffsetGap]] = defaultdict(list)
    for gap in gaps:
        if gap.kind is GapKind.RECREATED:
            again[gap.partition].append(gap)
    return again


def _declarations(gaps: Iterable[OffsetGap]) -> frozenset[tuple[TopicPartition, datetime]]:
    return frozenset((p, again[-1].at) for p, again in recreations(gaps).items())


def _is_later(published: CoveredRange, gap: OffsetGap) -> bool:
    """Whether a publication has offsets of the topic after that declaration."""
    if gap.last_ordinal is None:  # an earlier release declared it
        return published.published_at > gap.at
    return ordinal_of(published.generation_id) > gap.last_ordinal
