"""The intake over a feed of a test: what is committed when, and what a rebalance leaves behind."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Event

import pytest

from supervisor.core.reports.flow import FlowBounds
from supervisor.core.reports.status import PersisterState, StoreOutcome
from supervisor.ports.reports.feed import FeedEvents, FeedPartition, FeedRecord, TopicLag
from supervisor.reports.incoming import Incoming
from supervisor.reports.intake import Intake, IntakeOptions
from supervisor.reports.pipeline import Pipeline
from tests.supervisor.reports.shelves import WITHIN_S, Shelves

ONE, TWO = FeedPartition("completed.default", 0), FeedPartition("completed.default", 1)
STORED = StoreOutcome.STORED


class _Desk(Pipeline):
    """Holds what is submitted, until a test says what became of it."""

    def __init__(self) -> None:
        super().__init__(Shelves().storing())
        self.held: list[Incoming] = []
        self.ends_while_it_drains: list[int] = []
        """Offsets that are stored while a partition that goes waits for them."""

    @property
    def state(self) -> PersisterState:
        return PersisterState.RUNNING

    def submit(self, items: Collection[Incoming]) -> None:
        self.held += items

    def discard(self, places: Collection[FeedPartition], within_s: float) -> None:
        del places, within_s
        self.end(*self.ends_while_it_drains)

    def end(self, *offsets: int) -> None:
        """Say that records are stored."""
        for item in [each for each in self.held if each.offset in offsets]:
            self.held.remove(item)
            item.done(item, STORED)


class _Feed:
    """Does one thing after another, each within a call of `take`, as a consumer does."""

    trouble = ""

    def __init__(self) -> None:
        self.events: FeedEvents | None = None
        self.committed: list[Mapping[FeedPartition, int]] = []
        self.paused: set[FeedPartition] = set()
        self.refuses = 0
        """So many commits are not certain."""
        self._next: SimpleQueue[tuple[Callable[[], Sequence[FeedRecord]], Event]] = SimpleQueue()

    def does(self, what: Callable[[], Sequence[FeedRecord]]) -> None:
        """Let the intake meet something, and wait until its next turns have followed."""
        for each in (what, _nothing, _nothing):
            done = Event()
            self._next.put((each, done))
            assert done.wait(WITHIN_S), "the intake takes no turn"

    def open(self, events: FeedEvents) -> None:
        self.events = events

    def take(self, most: int, within_s: float) -> Sequence[FeedRecord]:
        del most
        try:
            what, done = self._next.get(timeout=within_s)
        except Empty:
            return []
        records = what()
        done.set()
        return records

    def pause(self, places: Collection[FeedPartition]) -> None:
        self.paused |= set(places)

    def resume(self, places: Collection[FeedPartition]) -> None:
        self.paused -= set(places)

    def commit(self, offsets: Mapping[FeedPartition, int]) -> bool:
        self.committed.append(dict(offsets))
        self.refuses -= 1
        return self.refuses < 0

    def lag(self) -> Mapping[str, TopicLag]:
        return {}

    def close(self) -> None:
        """Hold nothing."""


class _Turns:
    """An intake, and the verbs of a test."""

    def __init__(self, options: IntakeOptions) -> None:
        self.feed, self.desk = _Feed(), _Desk()
        self.intake = Intake(self.feed, self.desk, options)

    def read(self, *offsets: int, place: FeedPartition = ONE) -> None:
        self.feed.does(lambda: [FeedRecord(place, each, None, b"{}") for each in offsets])

    def assign(self, *places: FeedPartition) -> None:
        self._announce(lambda events: events.assigned(places))

    def revoke(self, *places: FeedPartition) -> None:
        self._announce(lambda events: events.revoked(places))

    def lose(self, *places: FeedPartition) -> None:
        self._announce(lambda events: events.lost(places))

    def end(self, *offsets: int) -> None:
        self.desk.end(*offsets)
        self.feed.does(_nothing)

    def _announce(self, what: Callable[[FeedEvents], None]) -> None:
        def announce() -> Sequence[FeedRecord]:
            assert self.feed.events is not None
            what(self.feed.events)
            return []

        self.feed.does(announce)


def _nothing() -> Sequence[FeedRecord]:
    return []


@contextmanager
def _reading(bounds: FlowBounds | None = None) -> Iterator[_Turns]:
    turns = _Turns(IntakeOptions(bounds or FlowBounds(), poll_s=0.01, commit_s=0.0))
    turns.intake.start()
    try:
        yield turns
    finally:
        turns.intake.stop(WITHIN_S)


@pytest.fixture
def turns() -> Iterator[_Turns]:
    """An intake with one partition."""
    with _reading() as some:
        some.assign(ONE)
        yield some


def test_a_commit_waits_for_the_lowest_record_that_is_not_done(turns: _Turns) -> None:
    turns.read(10, 11, 12)
    turns.end(11, 12)
    assert not [each for each in turns.feed.committed if each[ONE] > 10]

    turns.end(10)
    assert turns.feed.committed[-1] == {ONE: 13}


def test_a_partition_that_goes_is_committed_with_what_was_under_way(turns: _Turns) -> None:
    turns.read(10, 11, 12)
    turns.desk.ends_while_it_drains = [10, 11]
    turns.revoke(ONE)

    assert turns.feed.committed[-1] == {ONE: 12}
    assert turns.intake.status().partitions == 0


def test_a_partition_that_was_lost_is_not_committed(turns: _Turns) -> None:
    """Another member reads it already, and its commits count."""
    turns.read(10)
    before = [*turns.feed.committed]
    turns.lose(ONE)
    turns.end(10)

    assert turns.feed.committed == before
    assert turns.intake.status().partitions == 0


def test_what_was_read_ahead_of_a_partition_that_went_is_left_out(turns: _Turns) -> None:
    turns.assign(TWO)
    turns.revoke(ONE)
    turns.read(10)
    turns.read(20, place=TWO)

    assert [each.offset for each in turns.desk.held] == [20]


def test_a_commit_that_is_not_certain_is_made_again(turns: _Turns) -> None:
    turns.read(10)
    turns.feed.committed.clear()
    turns.feed.refuses = 1
    turns.end(10)

    assert turns.feed.committed == [{ONE: 11}, {ONE: 11}]


def test_at_its_bound_it_takes_nothing_more_until_half_is_done() -> None:
    with _reading(FlowBounds(records=4)) as turns:
        turns.assign(ONE)
        turns.read(0, 1, 2, 3)
        assert turns.feed.paused == {ONE}

        turns.end(0, 1)
        assert turns.feed.paused == {ONE}
        turns.end(2)
        assert turns.feed.paused == set()
