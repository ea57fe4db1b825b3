"""What the walk counts as a hit: a whole row of deaths, a range that was cut off by them."""

from collections import deque
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import pytest

from tests.chaos.judges.books import Books
from tests.chaos.points import LEADER_STOPS, OVERLORD_POINTS
from tests.chaos.runs.run import Run
from tests.chaos.runs.takeover import Takeover
from tests.chaos.runs.walk import LONG, Walk

pytestmark = pytest.mark.chaos
KILLED = -9
OTHER, *_ = OVERLORD_POINTS
[A14] = [point for point in OVERLORD_POINTS if point.row == "A14"]


@pytest.fixture
def walk(run: Run) -> Walk:
    """A row of ten, and another point behind it."""
    found = Walk(run, replace(LONG, rounds=1), seed=1)
    found._overlords = deque([A14] * 10 + [OTHER])
    return found


def end(walk: Walk, *codes: int) -> list[str]:
    """Let overlords end, one after the other, each started anew; return how they were armed."""
    armed = []
    for number, code in enumerate(codes):
        name = ("o1", "o2")[number % 2]
        armed.append(walk.failpoint_for(name))
        walk.ended(name, code)
    return armed


def test_ten_leaders_in_a_row_are_one_hit(walk: Walk) -> None:
    """Goal: A14: nine are none, and each of them is a fault all the same."""
    end(walk, *[KILLED] * 9)
    assert walk.hits[A14.name] == 0

    end(walk, KILLED, KILLED)

    assert walk.hits == {A14.name: 1, OTHER.name: 1}
    assert walk._run.faults.kinds()["A14"] == 10


def test_a_row_that_is_broken_begins_anew(walk: Walk) -> None:
    """Found by reading: five hits of A14 were five deaths, not five rows of ten."""
    armed = end(walk, *[KILLED] * 4, 1, *[KILLED] * 9)
    assert set(armed) == {A14.failpoint}
    assert (walk.hits[A14.name], walk.missed[A14.name]) == (0, 1)

    assert end(walk, KILLED, KILLED) == [A14.failpoint, OTHER.failpoint]
    assert walk.hits == {A14.name: 1, OTHER.name: 1}


def test_a_death_from_outside_breaks_a_row(walk: Walk) -> None:
    """Goal: in a row means that no leader has ended otherwise in between."""
    end(walk, *[KILLED] * 4)
    walk.ended("o1", KILLED)  # it was not armed
    assert end(walk, *[KILLED] * 10) == [A14.failpoint] * 10
    assert (walk.hits[A14.name], walk.missed[A14.name]) == (1, 1)


def test_a_row_that_breaks_again_and_again_is_given_up(walk: Walk) -> None:
    """Goal: with a bound; what is missing is a trouble then."""
    for _ in range(6):
        end(walk, *[KILLED] * 3)
        walk.ended("o1", KILLED)
    end(walk, *[KILLED] * len(walk._overlords))
    assert (walk.hits[A14.name], walk.missed[A14.name]) == (0, 7)


@dataclass
class Paper:
    """Books that say what a test wants, one page after the other."""

    pages: list[frozenset[str]]
    """What is being published, at each look."""
    publications: int = 0
    sees: int = 1
    """Term."""
    fixed: list[str] = field(default_factory=list)

    def publishing(self) -> frozenset[str]:
        """Turn the page; the last one stays."""
        return self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]

    def pausing(self) -> frozenset[str]:
        """Return none."""
        return frozenset()

    def look(self) -> SimpleNamespace:
        """Publish something with each look."""
        self.publications += 1
        return SimpleNamespace(publications=self.publications)

    def term(self) -> int:
        """Return it."""
        return self.sees

    def events(self, _: str) -> list[SimpleNamespace]:
        """Return the ranges whose ends were fixed."""
        return [SimpleNamespace(generation=g) for g in self.fixed]


RANGE, NEXT, NONE = frozenset({"g:1"}), frozenset({"g:2"}), frozenset[str]()


@pytest.mark.parametrize(
    ("pages", "hit"),
    [
        ([RANGE, RANGE, RANGE], True),
        ([RANGE, RANGE, NONE], False),
        ([RANGE, RANGE, NEXT], False),
    ],
)
def test_workers_have_died_while_a_range_was_published_only_if_it_is_not_published(
    run: Run, monkeypatch: pytest.MonkeyPatch, pages: list[frozenset[str]], hit: bool
) -> None:
    """Goal: B8: it was published before the last of them was dead: that is no hit."""
    run.books = cast("Books", Paper(pages))
    monkeypatch.setattr(run.fleet, "ended", lambda: dict.fromkeys(run.fleet.shape.workers, KILLED))
    assert Walk(run, LONG, seed=1)._kill_every_worker() is hit
    assert run.faults.kinds()["B8"] == 2


def test_what_does_not_do_as_its_point_says_is_tried_again_with_a_bound(walk: Walk) -> None:
    """Goal: the long form names what it did not come to."""
    answers = iter([False, True])
    walk._repeat(OTHER, lambda: next(answers))
    assert (walk.hits[OTHER.name], walk.missed[OTHER.name]) == (1, 1)
    walk._repeat(A14, lambda: False)
    assert (walk.hits[A14.name], walk.missed[A14.name]) == (0, 6)


def test_a_leader_that_slept_leaves_one_more_term_and_one_end(run: Run) -> None:
    """Goal: D2: two terms, no end or two ends are found."""
    point, *_ = LEADER_STOPS
    books = Paper([NONE], sees=8, fixed=["g:1"])
    run.books = cast("Books", books)
    takeover = Takeover(run, seed=1)
    assert takeover._wrong(point, 7, RANGE) == []
    assert takeover._wrong(point, 6, RANGE) == [f"{point.name}: term 6 became 8"]
    assert takeover._wrong(point, 7, NEXT) == [f"{point.name}: 0 ends were fixed for g:2"]
    books.fixed = ["g:1", "g:1"]
    assert takeover._wrong(point, 7, RANGE) == [f"{point.name}: 2 ends were fixed for g:1"]


def test_who_was_followed_before_its_sleep_was_seen_does_not_count(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by a long run: the next leader's term was taken for the sleeper's, and waited for."""
    point, *_ = LEADER_STOPS
    run.books = cast("Books", Paper([NONE], sees=8))
    thawed: list[str] = []
    monkeypatch.setattr(run.fleet, "thaw", thawed.append)
    takeover = Takeover(run, seed=1)
    monkeypatch.setattr(takeover, "_sleeper", lambda _: "o2")  # `o1` leads a still run

    assert takeover.happens_at(point) is False

    assert (takeover.findings, thawed) == ([], ["o2"])
