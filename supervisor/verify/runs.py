"""Sets of offsets as runs, 16 bytes a run: the offsets of a partition in a topic or a file.

Ten million offsets without a hole are one run.  Every operation is one pass over both sides.
"""

from array import array
from collections.abc import Iterable, Iterator

_NEVER = 2**63 - 1


class Runs:
    """A set of offsets: sorted runs `[first, end)` that neither overlap nor touch; immutable."""

    __slots__ = ("_ends", "_firsts")

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        """Take ascending runs; touching or overlapping runs are merged, empty ones dropped."""
        self._firsts = array("q")
        self._ends = array("q")
        for first, end in pairs:
            self._append(first, end)

    @classmethod
    def unsorted(cls, pairs: Iterable[tuple[int, int]]) -> "Runs":
        """Return a set from runs in any order."""
        return cls(sorted(pairs))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield `(first, end)` of each run, ascending."""
        return zip(self._firsts, self._ends, strict=True)

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __len__(self) -> int:
        """Return the number of runs, not of offsets: see `count`."""
        return len(self._firsts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        return self._firsts == other._firsts and self._ends == other._ends

    def __hash__(self) -> int:
        return hash((self._firsts.tobytes(), self._ends.tobytes()))

    def __repr__(self) -> str:
        return f"Runs({list(self)!r})"

    def count(self) -> int:
        """Return the number of offsets."""
        return sum(self._ends) - sum(self._firsts)

    def clip(self, first: int, end: int) -> "Runs":
        """Return the offsets in `[first, end)`."""
        return self & Runs([(first, end)])

    def __or__(self, other: "Runs") -> "Runs":
        """Return the offsets that are in either set."""
        return Runs(_merged(self, other))

    def __and__(self, other: "Runs") -> "Runs":
        """Return the offsets that are in both sets."""
        return Runs(_common(iter(self), iter(other)))

    def __sub__(self, other: "Runs") -> "Runs":
        """Return the offsets that are not in `other`."""
        return Runs(_rest(self, iter(other)))

    def _append(self, first: int, end: int) -> None:
        if end <= first:
            return
        if self._ends and first <= self._ends[-1]:
            assert first >= self._firsts[-1], "runs come in ascending order"
            self._ends[-1] = max(self._ends[-1], end)
        else:
            self._firsts.append(first)
            self._ends.append(end)


NOTHING = Runs()
"""The empty set."""


class RunBuilder:
    """Collects ascending offsets one by one."""

    __slots__ = ("_end", "_first", "_pairs")

    def __init__(self) -> None:
        self._pairs = array("q")
        self._first = 0
        self._end = 0

    def add(self, offset: int) -> None:
        """Add an offset, higher than all before."""
        if offset == self._end and self._end > self._first:
            self._end += 1
            return
        assert offset >= self._end or self._end == self._first, "offsets come in ascending order"
        if self._end > self._first:
            self._pairs.extend((self._first, self._end))
        self._first, self._end = offset, offset + 1

    def runs(self) -> Runs:
        """Return the offsets that were added so far."""
        pairs = zip(self._pairs[::2], self._pairs[1::2], strict=True)
        return Runs(pairs) | Runs([(self._first, self._end)])


def _merged(left: Runs, right: Runs) -> Iterator[tuple[int, int]]:
    a, b = iter(left), iter(right)
    one, two = next(a, None), next(b, None)
    while one is not None or two is not None:
        if two is None or (one is not None and one <= two):
            assert one is not None
            yield one
            one = next(a, None)
        else:
            yield two
            two = next(b, None)


def _common(
    a: Iterator[tuple[int, int]], b: Iterator[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    one, two = next(a, None), next(b, None)
    while one is not None and two is not None:
        yield max(one[0], two[0]), min(one[1], two[1])
        if one[1] <= two[1]:
            one = next(a, None)
        else:
            two = next(b, None)


def _rest(left: Runs, b: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    hole = next(b, (_NEVER, _NEVER))
    for run_first, end in left:
        first = run_first
        while hole[1] <= first:
            hole = next(b, (_NEVER, _NEVER))
        while hole[0] < end:
            yield first, hole[0]
            first = max(first, hole[1])
            if hole[1] > end:
                break
            hole = next(b, (_NEVER, _NEVER))
        yield first, end
