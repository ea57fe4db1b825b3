"""How long a task paused, merged and waited for its publication."""

from collections.abc import Sequence

from tasks.contract.messages import PublishOutcome
from tasks.machine.events import Event, Merge, Ordered, Publish, Ticked
from tasks.reporting.timings import TaskTimings
from tasks.worker.reporting.stage_clocks import StageClocks
from tests.tasks.machine.bench import Bench
from tests.tasks.machine.machines import bench, until
from tests.tasks.memory import at, order, pause


class _Timed:
    """A bench whose steps are timed, as a runner times them."""

    def __init__(self, b: Bench) -> None:
        self._bench, self._deliver = b, b.deliver
        self.clocks = StageClocks(lambda: b.now)
        b.deliver = self._step  # type: ignore[method-assign]

    def _step(self, event: Event) -> None:
        self._deliver(event)
        self.clocks.step(self._bench.state, event.now)

    @property
    def pauses(self) -> Sequence[int]:
        pauses = self.clocks.timings().pauses
        return pauses.count, pauses.ms, pauses.longest_ms


def test_pauses_are_counted_with_their_times_up_to_now() -> None:
    b = bench(5)
    timed = _Timed(b)
    b.run()
    assert timed.clocks.timings() == TaskTimings()

    b.deliver(Ordered(b.now, pause(2)))
    b.run()
    b.now += 2.5
    assert timed.pauses == (1, 2_500, 2_500)

    b.deliver(Ordered(b.now, order(3)))
    b.run()
    b.deliver(Ordered(b.now, pause(4)))
    b.run()
    b.now += 1
    assert timed.pauses == (2, 3_500, 2_500)


def test_merge_and_publish_are_timed_and_end_with_the_task() -> None:
    b = bench(5)
    timed = _Timed(b)
    b.run()
    b.deliver(Ordered(b.now, order(2, end=at(5))))
    until(b, Merge)
    b.now += 0.25
    b.carry_out()
    until(b, Publish)
    b.outcome = PublishOutcome.WAIT_FOR_PREDECESSOR
    b.now += 0.5
    b.carry_out()
    b.outcome = PublishOutcome.COMMITTED
    b.now += 20
    b.deliver(Ticked(b.now))
    b.run()
    assert b.state.terminal

    ended = timed.clocks.timings()
    assert (ended.merge.count, ended.merge.ms) == (1, 250)
    assert ended.publish.ms >= 20_500
    b.now += 100
    assert timed.clocks.timings() == ended
