"""The end of life of history: what old publications become, so that `verify` loses nothing.  Pure.

    publications of one group    ├─ 7 ─┼─ 8 ─┼─ 9 ─┤ break ├─ 10 ─┼─ 11 ─┤    old ones, end to end
    after they are folded        ├─────── 7 ───────┤       ├───── 10 ─────┤    one range each
    files that were deleted      7: 5 files, 900 rows at these offsets         one row per table

A folded publication claims the offsets, rows and rejects of its ranges together.  Its files are
theirs.  So the proof of a table is as strong as before; only the borders between old ranges go.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from supervisor.core.model.rows import GapKind, OffsetGap, Publication
from supervisor.core.tables.compaction import Share, merged
from tasks.contract.messages import OffsetSpan, RejectsFile
from tasks.contract.offsets import TopicPartition

FOLDED_MAX = 1_000
"""Ranges that one publication stands for at most: this bounds its list of rejects files."""


@dataclass(frozen=True)
class HistoryAges:
    """The ages at which history ends."""

    ranges: timedelta = timedelta(days=90)
    """Of ranges, their tasks, deleted files and compactions: they become compact, or go."""
    audit: timedelta = timedelta(days=365)
    """Of audit entries."""
    events: timedelta = timedelta(days=90)
    """Of events of the kinds that are kept longer than others."""
    executions: timedelta = timedelta(days=30)
    """Of executions, from their end on."""
    executions_of_each: int = 10_000
    """The newest ended executions of each flow; the others go earlier."""


@dataclass(frozen=True)
class EventLimits:
    """Bounds of the events that are kept longer; whichever is met first ends them."""

    before: datetime
    """Older ones go."""
    of_each: int
    """The newest of each supervisor: one that changes its state all the time pushes out no other
    one's."""
    of_all: int


@dataclass(frozen=True)
class EventCut:
    """Events that go: up to a number, of one supervisor or (None) of all."""

    up_to: int
    supervisor_id: str | None = None


@dataclass(frozen=True)
class DroppedFiles:
    """What deleted files of one table held of one publication; they have no rows any more."""

    files: int
    rows: int
    spans: tuple[OffsetSpan, ...]
    """One span per partition: from the first to the last row of all these files."""

    def __add__(self, other: "DroppedFiles") -> "DroppedFiles":
        spans = merged((*self.spans, *other.spans))
        return DroppedFiles(self.files + other.files, self.rows + other.rows, spans)


NO_FILES = DroppedFiles(0, 0, ())


@dataclass(frozen=True)
class Folded:
    """What a publication has of the ranges and files that it stands for."""

    rejects: tuple[RejectsFile, ...] = ()
    """Rejects files of the ranges that were folded into it, by path; its own is left out."""
    dropped: Mapping[str, DroppedFiles] = field(default_factory=dict)
    """Table -> its deleted files there."""


@dataclass(frozen=True)
class Fold:
    """Publications that become one: `others` follow `into`, each from where the last ended."""

    into: Publication
    others: tuple[Publication, ...]

    def result(self) -> Publication:
        """Return the publication that stands for all of them."""
        every = (self.into, *self.others)
        return replace(
            self.into,
            end=self.others[-1].end,
            rows=sum(each.rows for each in every),
            rejected=sum(each.rejected for each in every),
            ranges=sum(each.ranges for each in every),
            digest=None,  # of a range as replicas read it
        )


def folds(old: Iterable[Publication], gaps: Sequence[OffsetGap], at_once: int) -> Iterator[Fold]:
    """Yield what may be folded of one supervisor's publications, given in order of their ordinals.

    A publication continues another one if it has the same partitions, begins where that ends, and
    no break was declared between them.  A fold has at most `at_once` others.
    """
    chains: dict[frozenset[TopicPartition], list[Publication]] = {}
    for each in old:
        group = frozenset(each.start)
        chain = chains.get(group, [])
        if chain and _continues(chain, each, gaps):
            chain.append(each)
        else:
            yield from _cut(chain, at_once)
            chains[group] = [each]
    for chain in chains.values():
        yield from _cut(chain, at_once)


def _cut(chain: Sequence[Publication], at_once: int) -> Iterator[Fold]:
    """Yield a chain as folds into its first publication, each on top of the one before."""
    if not chain:
        return
    into, others = chain[0], chain[1:]
    for first in range(0, len(others), at_once):
        fold = Fold(into, tuple(others[first : first + at_once]))
        yield fold
        into = fold.result()


def _continues(
    chain: Sequence[Publication], following: Publication, gaps: Sequence[OffsetGap]
) -> bool:
    last = chain[-1]
    if last.end != following.start or last.data_source != following.data_source:
        return False
    if sum(each.ranges for each in chain) + following.ranges > FOLDED_MAX:
        return False
    return not any(
        gap.partition in following.start and _lies_between(gap, last, following) for gap in gaps
    )


def _lies_between(gap: OffsetGap, last: Publication, following: Publication) -> bool:
    if gap.last_ordinal is None:  # an earlier release declared it: the clocks may be two leaders'
        return gap.kind is GapKind.RECREATED or last.published_at <= gap.at < following.published_at
    return last.ordinal <= gap.last_ordinal < following.ordinal


def folded_shares(shares: Sequence[Share], into: Mapping[str, str]) -> tuple[Share, ...]:
    """Return the shares of a compacted file after a fold; `into`: folded range -> its new range.

    Shares of one range become one.  Spans of different ranges do not overlap, as before: two spans
    of a partition become one only if no other range has a span between them.
    """
    owners = [(into.get(share.generation_id, share.generation_id), share) for share in shares]
    spans: dict[str, list[OffsetSpan]] = {}
    each_span = [(span, owner) for owner, share in owners for span in share.spans]
    each_span.sort(key=lambda it: (it[0].topic, it[0].partition, it[0].first))
    before: tuple[str, str, int] | None = None
    for span, owner in each_span:
        mine, at = spans.setdefault(owner, []), (owner, span.topic, span.partition)
        if before == at:
            mine[-1:] = merged((mine[-1], span))
        else:
            mine.append(span)
        before = at
    rows = Counter[str]()
    for owner, share in owners:
        rows[owner] += share.rows
    return tuple(Share(each, rows[each], tuple(spans.get(each, ()))) for each in sorted(rows))
