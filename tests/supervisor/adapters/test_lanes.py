"""Lanes: a place that is silent holds one thread, whatever waits for it."""

import threading
from collections.abc import Iterator

import pytest

from supervisor.adapters.bulkheads import BulkheadPool, Work
from supervisor.core.values.lanes import Neighbour, Width
from tests.waiting import wait_until

WIDTH = 3
SILENT = Neighbour("silent", "")


class Story:
    """Work that says when it has begun, and waits for its gate."""

    def __init__(self) -> None:
        self.lanes = BulkheadPool(Width(pool=8, lane=WIDTH), "lane")
        self.gate = threading.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []

    def work(self, name: str, *, answers: bool) -> Work:
        def run() -> bool:
            self.begun.append(name)
            assert self.gate.wait(30), "nobody opened the gate"
            self.ended.append(name)
            return answers

        return run

    def at_once(self, lane: str) -> None:
        """Run something that answers at once, and wait for it."""
        done = threading.Event()

        def run() -> bool:
            done.set()
            return True

        self.lanes.run(Neighbour(lane, ""), run)
        assert done.wait(30), f"nothing ran in {lane}"


@pytest.fixture
def story() -> Iterator[Story]:
    story = Story()
    yield story
    story.gate.set()
    story.lanes.stop()


def test_a_silent_lane_holds_one_thread_and_others_go_on(story: Story) -> None:
    for number in range(20):
        story.lanes.run(SILENT, story.work(f"silent {number}", answers=False))

    story.at_once("other")

    assert story.begun == ["silent 0"]


def test_all_of_a_lane_is_run_in_turn(story: Story) -> None:
    names = [str(number) for number in range(20)]
    for name in names:
        story.lanes.run(SILENT, story.work(name, answers=False))

    story.gate.set()

    wait_until(lambda: len(story.ended) == len(names))
    assert story.ended == names


def test_a_lane_that_answers_has_several_threads_but_not_all(story: Story) -> None:
    opened = threading.Event()

    def answer() -> bool:
        assert opened.wait(30), "nobody opened the lane"
        return True

    story.lanes.run(Neighbour("quick", ""), answer)
    for number in range(20):
        story.lanes.run(Neighbour("quick", ""), story.work(str(number), answers=True))
    opened.set()

    wait_until(lambda: len(story.begun) >= WIDTH)
    story.at_once("other")
    assert len(story.begun) == WIDTH


def test_work_that_fails_ends_like_work_without_an_answer(story: Story) -> None:
    def fail() -> bool:
        raise OSError("no route")

    story.lanes.run(Neighbour("broken", ""), fail)
    story.at_once("broken")


def test_nothing_starts_after_the_stop(story: Story) -> None:
    story.lanes.run(SILENT, story.work("first", answers=False))
    wait_until(lambda: story.begun == ["first"])
    story.lanes.run(SILENT, story.work("second", answers=False))

    story.lanes.stop()
    story.gate.set()
    story.lanes.run(Neighbour("other", ""), story.work("third", answers=False))

    wait_until(lambda: story.ended == ["first"])
    assert story.begun == ["first"]
