"""A runner's round trip with one partition: reports in, claims granted, in one transaction.

Runners consume no topic: they ask the owner, who grants, and begin once that is committed.
"""

from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import AttemptLost, Claim
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.engine import RunnerOrders, place_of
from supervisor.executions.sequencer.batch import PartitionBatch
from supervisor.executions.sequencer.calls import is_open
from supervisor.executions.sequencer.held import HeldPartition
from supervisor.executions.sequencer.work import RequestWork
from supervisor.ports.flows.executions import CallPlace

__all__ = ["QUICK_AT_ONCE", "LossWork", "RunnerWork"]

QUICK_AT_ONCE = 50
"""Calls of verbs that need no room, per transaction."""


@dataclass(kw_only=True)
class RunnerWork(RequestWork):
    """What a runner reports of this partition, and how much room it has."""

    runner: Runner
    makes: Sequence[CallPlace] = ()
    free: int = 0
    quick: Collection[str] = ()
    """Verbs that are done at once, and so need no room."""
    orders: "Future[RunnerOrders]" = field(default_factory=Future)
    looks: list[StepCall] = field(default_factory=list)

    def claim(self, batch: PartitionBatch, held: HeldPartition) -> None:
        """Queue claims of calls that are open once the reports are worked in."""
        self.looks = []
        if self.error is not None:
            return
        room, quick = self.free, QUICK_AT_ONCE if self.quick else 0
        places = set(self.makes)
        for call in (*held.calls.calls.values(), *batch.calls):
            if not (room or quick):
                return
            place, needs_room = place_of(call), call.verb not in self.quick
            if not (room if needs_room else quick) or place in places:
                continue
            if not is_open(batch.execution(call.execution), call):
                continue
            places.add(place)
            if needs_room:
                room -= 1
            else:
                quick -= 1
            if call.check:
                self.looks.append(call)
            else:
                batch.send(call.execution, Claim(call.run, call.attempt, self.runner))

    def succeed(self, batch: PartitionBatch, held: HeldPartition) -> None:
        """Say what to begin and what to stop, as it is now."""
        super().succeed(batch, held)
        if self.error is not None:
            self.orders.set_exception(self.error)
            return
        mine, known = held.calls.held(self.runner), set(self.makes)
        calls = [
            held.calls.calls.get(place.run) for place, one in mine.items() if not one.cancelled
        ]
        begin = [call for call in (*calls, *self.looks) if call is not None]
        stop = [place for place in self.makes if place.look == 0]
        self.orders.set_result(
            RunnerOrders(
                [call for call in begin if place_of(call) not in known],
                [place for place in stop if place not in mine or mine[place].cancelled],
            )
        )

    def fail(self, error: BaseException) -> None:
        """Answer that nothing is known of it."""
        super().fail(error)
        if not self.orders.done():
            self.orders.set_exception(error)


@dataclass(kw_only=True)
class LossWork(RequestWork):
    """A runner is gone: what it held is lost."""

    runner: Runner

    def put(self, batch: PartitionBatch, held: HeldPartition) -> None:
        """Queue the loss of each call that it held."""
        self.inputs = [
            (place.execution, AttemptLost(place.run, place.attempt, self.runner))
            for place in held.calls.held(self.runner)
        ]
        super().put(batch, held)
