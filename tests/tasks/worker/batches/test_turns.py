"""Which batches of a worker run side by side, and which one alone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

import pytest

from tasks.worker.batches.turns import BatchTurns
from tests.tasks.memory import DEADLINE_S
from tests.waiting import wait_until


@dataclass
class Batch:
    """A batch in a thread of its own, which runs until it is released."""

    turns: BatchTurns
    alone: bool = False
    given_up: Callable[[], bool] = lambda: False
    began: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)
    held: bool | None = None

    def __post_init__(self) -> None:
        self.thread = Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        with self.turns.turn(alone=self.alone, given_up=self.given_up) as self.held:
            self.began.set()
            assert self.released.wait(DEADLINE_S)

    def end(self) -> None:
        self.released.set()
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()


def test_batches_run_side_by_side_and_a_suspect_alone() -> None:
    turns = BatchTurns()
    usual = [Batch(turns), Batch(turns)]
    assert all(batch.began.wait(DEADLINE_S) for batch in usual)
    alone = Batch(turns, alone=True)
    wait_until(lambda: turns.waiting_alone == 1)
    later = Batch(turns)

    usual[0].end()
    assert not alone.began.is_set()
    usual[1].end()
    assert alone.began.wait(DEADLINE_S)
    assert not later.began.is_set(), "the one that is to run alone goes first"
    alone.end()
    assert later.began.wait(DEADLINE_S)
    later.end()


@pytest.mark.parametrize("alone", [True, False])
def test_a_batch_that_waits_can_be_given_up(*, alone: bool) -> None:
    """Goal: a stop or a pause does not wait for the batches of other tasks."""
    turns, stopped = BatchTurns(), Event()
    first = Batch(turns, alone=not alone)
    assert first.began.wait(DEADLINE_S)
    waiting = Batch(turns, alone=alone, given_up=stopped.is_set)
    stopped.set()
    turns.wake()
    assert waiting.began.wait(DEADLINE_S)
    waiting.end()
    first.end()
    last = Batch(turns, alone=True)

    assert waiting.held is False
    assert last.began.wait(DEADLINE_S), "who gave up holds no turn"
    last.end()
