"""Rows that were let go on purpose: which missing records they explain, and which they do not.

    topic      ■■■■■■■■■■■■■■■
    rows       ■■■   ■ ■■■■■■■      3 records are missing
    let go       ├─3 rows─┤         and 3 rows were dropped from among these offsets: explained

A dropped file is not read, so that its rows are known by their number and their span alone.  The
numbers must agree: one record more is lost, and one less is a wrong number on record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from supervisor.verify.runs import Runs


@dataclass(frozen=True, order=True)
class LetGo:
    """Rows of one partition that went with one file: so many, at offsets in `[first, end)`."""

    first: int
    end: int
    rows: int


@dataclass(frozen=True)
class Explained:
    """What dropped rows leave unexplained."""

    lost: Runs
    """Records that are missing although nobody dropped them, or nobody knows which of them."""
    excess: int
    """So many dropped rows whose records are in the table all the same."""


def explain(missing: Runs, untold: Runs, let_go: Sequence[LetGo]) -> Explained:
    """Set missing records off against rows that were let go, span by span.

    `untold` are offsets that the topic no longer shows and nothing in the table has: a dropped
    row may have been at each of them, or none.
    """
    lost = missing - Runs.unsorted((each.first, each.end) for each in let_go)
    excess = 0
    for span in _together(let_go):
        inside = missing.clip(span.first, span.end)
        missing_count, possible = inside.count(), untold.clip(span.first, span.end).count()
        if missing_count > span.rows:
            lost = lost | inside
        excess += max(0, span.rows - missing_count - possible)
    return Explained(lost, excess)


def _together(let_go: Iterable[LetGo]) -> Iterator[LetGo]:
    """Yield spans that overlap as one: which row was whose cannot be told."""
    reached: LetGo | None = None
    for each in sorted(let_go):
        if reached is not None and each.first < reached.end:
            end = max(reached.end, each.end)
            reached = LetGo(reached.first, end, reached.rows + each.rows)
            continue
        if reached is not None:
            yield reached
        reached = each
    if reached is not None:
        yield reached
