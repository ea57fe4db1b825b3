"""Rows that were dropped on purpose, set off against missing records.

    topic      ■■■■■■■■■■■■■■■
    rows       ■■■   ■ ■■■■■■■      3 records are missing
    let go       ├─3 rows─┤         and 3 rows were dropped from among these offsets: explained

A dropped file is not read, so only the number and the span of its rows are known.  The numbers must
agree: one missing record more is a loss, and one less is a wrong number on record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from supervisor.verify.runs import Runs


@dataclass(frozen=True, order=True)
class LetGo:
    """Rows of one partition that were dropped with one file, at offsets in `[first, end)`."""

    first: int
    end: int
    rows: int


@dataclass(frozen=True)
class Explained:
    """The differences that dropped rows do not explain."""

    lost: Runs
    """Missing records outside of the dropped spans, or in a span with too few dropped rows."""
    excess: int
    """Rows that count as dropped although their records are in the table."""


def explain(missing: Runs, untold: Runs, let_go: Sequence[LetGo]) -> Explained:
    """Set missing records off against dropped rows, span by span.

    `untold` are offsets that neither the topic nor the table has any more: each may or may not have
    been the offset of a dropped row.
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
    """Yield overlapping spans as one, because their rows cannot be told apart."""
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
