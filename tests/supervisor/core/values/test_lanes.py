"""Whose turn is next: a silent neighbour, and whoever brings many, delays nobody else."""

from collections.abc import Iterable

import pytest

from supervisor.core.values.lanes import (
    QUICK_S,
    Lanes,
    Neighbour,
    Turn,
    Width,
    retry_s,
)

WIDTH = Width(pool=8, lane=3)


def neighbour(lane: str, properties: str = "") -> Neighbour:
    return Neighbour(lane, properties)


class Story:
    """Lanes whose turns last until the test ends them."""

    def __init__(self) -> None:
        self.lanes: Lanes[str] = Lanes(WIDTH)
        self.running: list[Turn[str]] = []

    def add(self, lane: str, names: Iterable[str] = ("",), properties: str = "") -> None:
        for name in names:
            self.lanes.add(neighbour(lane, properties), name or lane)
        self.go_on()

    def go_on(self) -> None:
        self.running += self.lanes.start()

    def end(self, name: str, *, answered: bool = True, took_s: float = 0.1) -> None:
        turn = next(each for each in self.running if each.work == name)
        self.running.remove(turn)
        self.lanes.ended(turn, answered=answered, took_s=took_s)
        self.go_on()

    @property
    def names(self) -> list[str]:
        return [each.work for each in self.running]


@pytest.fixture
def story() -> Story:
    return Story()


def test_a_neighbour_that_has_never_answered_has_one_turn_at_a_time(story: Story) -> None:
    story.add("silent", "abc")

    assert story.names == ["a"]
    story.end("a", answered=False)
    assert story.names == ["b"]


def test_a_neighbour_that_answers_has_the_width_of_its_lane(story: Story) -> None:
    story.add("quick", "abcdef")
    story.end("a")

    assert story.names == ["b", "c", "d"]


def test_a_slow_answer_is_doubted_like_none(story: Story) -> None:
    """Goal: brokers that answer just before the deadline take no more threads than silent ones."""
    story.add("slow", "abcdef")
    story.end("a", took_s=QUICK_S + 0.1)

    assert story.names == ["b"]


def test_silent_lanes_never_hold_more_than_half_of_the_threads(story: Story) -> None:
    """Source: 150 supervisors with silent brokers, after which others waited for 50 s."""
    story.add("known")
    story.end("known")
    for number in range(150):
        story.add(f"silent {number}")
    assert len(story.names) == WIDTH.pool // 2

    story.add("known", "abc")

    assert story.names[WIDTH.pool // 2 :] == ["a", "b", "c"]


def test_many_neighbours_of_one_lane_share_the_one_turn_for_doubted_neighbours(
    story: Story,
) -> None:
    """Goal: nobody gets more threads by changing a property that brokers do not look at."""
    for number in range(20):
        story.add("brokers", [str(number)], properties=f"client.id={number}")

    assert story.names == ["0"]


def test_a_doubted_neighbour_keeps_no_trusted_neighbour_of_its_lane_away(story: Story) -> None:
    """Goal: a wrong protocol in one spec is the trouble of that spec."""
    story.add("brokers", ["first"], properties="right")
    story.end("first")
    story.add("brokers", ["a", "b"], properties="wrong")

    story.add("brokers", ["c", "d", "e"], properties="right")

    assert story.names == ["a", "c", "d"]


def test_a_newcomer_is_before_those_who_had_their_turns(story: Story) -> None:
    silent = [f"silent {number}" for number in range(50)]
    for name in silent:
        story.add(name)
    for _ in silent:
        ended = story.names[0]
        story.end(ended, answered=False)
        story.add(ended)

    story.add("new")
    story.end(story.names[0], answered=False)

    assert story.names[-1] == "new"


def test_lanes_take_turns_whoever_has_most_work(story: Story) -> None:
    """Goal: the turns of a lane do not grow with its queue."""
    for name in ("full", "too", "much", "little"):
        story.add(name)
        story.end(name)
    story.add("full", "abc")
    story.add("too", "def")
    story.add("much", [f"m{number}" for number in range(100)])
    story.add("little", ["l0"])
    assert story.names == [*"abcdef", "m0", "m1"]

    story.end("m0")

    assert story.names == [*"abcdef", "m1", "l0"]


def test_a_new_neighbour_of_brokers_that_answer_is_before_unknown_brokers(story: Story) -> None:
    story.add("brokers", ["known"], properties="known")
    story.end("known")
    for number in range(50):
        story.add(f"unknown {number}")
    story.add("brokers", ["new"], properties="new")

    story.end("unknown 0", answered=False)

    assert story.names[-1] == "new"


def test_idle_neighbours_are_forgotten_beyond_a_bound(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supervisor.core.values.lanes.NEIGHBOURS_MAX", 20)
    for number in range(50):
        story.add(f"lane {number}")
        story.end(f"lane {number}")

    assert len(story.lanes._queues) == 20
    assert len(story.lanes._lanes) == 20


@pytest.mark.parametrize(
    ("failures", "rest_s"), [(0, 3), (1, 3), (2, 6), (3, 12), (5, 48), (6, 60), (10**9, 60)]
)
def test_a_neighbour_that_stays_silent_rests_longer_each_time(failures: int, rest_s: int) -> None:
    assert retry_s(failures, 3, 60) == rest_s
