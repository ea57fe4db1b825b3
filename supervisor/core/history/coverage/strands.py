"""Runs of offsets, publications that follow each other, and what the ledger has of both.  Pure."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple


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
    RECREATED = "recreated"
    """Offsets of an earlier topic of the same name: they count for nothing of the topic as it is.
    """


LIVE_KINDS = frozenset({CoverageKind.PUBLISHING, CoverageKind.READING})
"""Kinds of offsets that no publication has yet."""


class OffsetRun(NamedTuple):
    """Offsets `[first, end)` and what became of them."""

    first: int
    end: int
    kind: CoverageKind


class Tally(NamedTuple):
    """What the ledger has of some offsets; None: it does not know it of these offsets alone.

    A range with records of several partitions has one number of rows for all of them.
    """

    rows: int | None
    rejected: int | None
    ranges: int | None
    """Ranges with these offsets, the live ones of a live run."""


NOTHING = Tally(0, 0, 0)
UNKNOWN = Tally(None, None, None)


class Strand(NamedTuple):
    """Publications `[first, end)` of a partition that follow each other, taken together."""

    first: int
    end: int
    tally: Tally


class Depth(NamedTuple):
    """Offsets `[first, end)` that `ranges` publications have."""

    first: int
    end: int
    ranges: int


def both(one: Tally, other: Tally) -> Tally:
    """Return the sum of two tallies; a number is known if it is known of both."""
    return Tally(
        *(None if a is None or b is None else a + b for a, b in zip(one, other, strict=True))
    )


def joined(known: Sequence[Strand], added: Iterable[Strand]) -> tuple[Strand, ...]:
    """Return the strands with more publications; most follow each other, and the last strand.

    Whether they are added at once or one by one, in the same order, changes nothing.
    """
    strands = dict(enumerate(known))
    ending: defaultdict[int, list[int]] = defaultdict(list)
    beginning: defaultdict[int, list[int]] = defaultdict(list)
    for number, each in strands.items():
        ending[each.end].append(number)
        beginning[each.first].append(number)

    def take(number: int) -> Strand:
        strand = strands.pop(number)
        ending[strand.end].remove(number)
        beginning[strand.first].remove(number)
        return strand

    for number, each in enumerate(added, len(known)):
        whole = each
        if ending.get(whole.first):
            before = take(ending[whole.first][-1])
            whole = Strand(before.first, whole.end, both(before.tally, whole.tally))
        if beginning.get(whole.end):
            after = take(beginning[whole.end][-1])
            whole = Strand(whole.first, after.end, both(whole.tally, after.tally))
        strands[number] = whole
        ending[whole.end].append(number)
        beginning[whole.first].append(number)
    return tuple(strands.values())


def depths_of(strands: Iterable[Strand]) -> tuple[Depth, ...]:
    """Return how many strands have which offsets, in the order of offsets."""
    changes: Counter[int] = Counter()
    for first, end, _ in strands:
        changes[first] += 1
        changes[end] -= 1
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


def tallies(
    runs: Sequence[OffsetRun], published: Iterable[Strand], live: Iterable[Strand]
) -> list[Tally]:
    """Return what the ledger has of each run; runs are in order, and do not overlap.

    Of a publication with offsets beyond a run nothing is known for the run alone.
    """
    totals = [Tally(None, None, 0) if run.kind in LIVE_KINDS else NOTHING for run in runs]
    firsts = [run.first for run in runs]
    each_of = [(strand, False) for strand in published] + [(strand, True) for strand in live]
    for strand, is_live in each_of:
        at = max(0, bisect_right(firsts, strand.first) - 1)
        while at < len(runs) and runs[at].first < strand.end:
            run = runs[at]
            if strand.first < run.end and (run.kind in LIVE_KINDS) is is_live:
                is_inside = run.first <= strand.first and strand.end <= run.end
                totals[at] = both(totals[at], strand.tally if is_inside else UNKNOWN)
            at += 1
    return totals
