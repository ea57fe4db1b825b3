"""The engine over the partitions that this process owns; what belongs to others goes there.

What concerns an execution of a partition that is worked here is answered after its commit.  Else it
is written to the history, where its owner reads it, and no more is known of it than that.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.executions.inputs import ExecutionInput
from supervisor.core.executions.reduced import StepCall
from supervisor.executions.engine import CallReport, RunnerOrders
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionStart,
    Letter,
)
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionLeft
from supervisor.executions.sequencer.places import partition_of
from supervisor.executions.sequencer.serving import LossWork, RunnerWork
from supervisor.executions.sequencer.work import RequestWork, WorkedInputs, shorter_report
from supervisor.ports.flows.execution_log import LogTooLarge
from supervisor.ports.flows.executions import CallPlace

__all__ = ["PartitionedEngine", "WorkingOwners"]

_ANSWER_S = 30.0


class WorkingOwners(Protocol):
    """The partitions of this process."""

    def working(self) -> Mapping[int, PartitionOwner]:
        """Return the owners that have taken their partition over."""
        ...


@dataclass
class PartitionedEngine:
    """Safe to use from many threads."""

    owners: WorkingOwners
    plan: PartitionPlan
    send: Callable[[int, str, bytes], None]
    """Write a letter to a partition of the history, by its key, and return when it is there."""
    within_s: float = _ANSWER_S
    quick: Collection[str] = ()
    """Verbs that the runner does at once: they are granted beside what it has room for."""
    _turn: int = 0
    _doubts: set[int] = field(default_factory=set)
    """Partitions that may have granted calls of which the runner has not heard."""
    _sent: dict[int, set[CallPlace]] = field(default_factory=dict)
    """Partition -> calls that a runner here has reported by the history.

    Who owns it next may be this process, before it has read that far: it would take them for calls
    that the runner never heard of, and order them once more."""

    def work(
        self,
        inputs: Sequence[tuple[str, ExecutionInput]] = (),
        starts: Sequence[Execution] = (),
    ) -> WorkedInputs:
        """Work new executions and inputs in; of those of other partitions nothing is answered.

        Raises:
            TimeoutError: no answer in time; a repeat changes nothing twice.
            PartitionLeft, LogFenced, LogAway, LogAborted: the same.
        """
        owners = self.owners.working()
        works: dict[int, RequestWork] = {}
        for start in starts:
            place = self._place(start.id)
            if place in owners:
                works[place] = _with(works.get(place), starts=[start])
            else:
                self._forward(start.id, ExecutionStart(start))
        for name, given in inputs:
            place = self._place(name)
            if place in owners:
                works[place] = _with(works.get(place), inputs=[(name, given)])
            else:
                self._forward(name, ExecutionGiven(given))
        for place, work in works.items():
            owners[place].request(work)
        answers = [work.answer.result(self.within_s) for work in works.values()]
        return WorkedInputs(
            frozenset().union(*(each.started for each in answers)),
            [reply for each in answers for reply in each.replies],
            [drop for each in answers for drop in each.dropped],
        )

    def serve(
        self,
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Sequence[CallReport] = (),
        free: int = 0,
    ) -> RunnerOrders:
        """Take a runner's reports, grant it up to `free` calls of here, and say what to stop.

        See `StoredEngine.serve`.  All partitions are asked at once.  What one of them has not taken
        is in `unheard`.  Of what the runner makes for partitions of others nothing is said.

        Raises:
            As `work`: nobody has taken anything.
        """
        owners = self.owners.working()
        by_place: dict[int, list[CallReport]] = {}
        for report in reports:
            place = self._place(report.execution)
            if place in owners:
                by_place.setdefault(place, []).append(report)
            else:
                self._forward_report(report)
                if not report.given.check:  # a look is none: it may be made again
                    self._sent.setdefault(place, set()).add(_place_of(report))
        works = self._works(owners, runner, makes, by_place, free)
        for place, work in works.items():
            owners[place].request(work)
        until, errors = time.monotonic() + self.within_s, list[Exception]()
        begin, stop, unheard = list[StepCall](), list[CallPlace](), list[CallReport]()
        for place, work in works.items():
            try:
                orders = work.orders.result(max(0.0, until - time.monotonic()))
            except Exception as error:  # noqa: BLE001 -- one partition holds up no other one
                if not isinstance(error, PartitionLeft):
                    errors.append(error)
                unheard += by_place.get(place, ())
                self._doubts.add(place)
                continue
            begin += orders.begin
            stop += orders.stop
            if place in self._sent:  # what is to be stopped is not held any more
                self._sent[place] -= set(orders.stop)
        if errors and len(errors) == len(works):
            raise errors[0]
        return RunnerOrders(begin, stop, unheard)

    def forward(self, execution: str, given: ExecutionInput) -> None:
        """Send an input by the history, whoever works its partition.

        Raises:
            LogAway, LogRefuses, LogTooLarge: it may not be there.
        """
        self._forward(execution, ExecutionGiven(given))

    def is_here(self, execution: str) -> bool:
        """Whether an execution is of a partition that is worked here."""
        return self._place(execution) in self.owners.working()

    def _works(
        self,
        owners: Mapping[int, PartitionOwner],
        runner: Runner,
        makes: Sequence[CallPlace],
        reports: Mapping[int, Sequence[CallReport]],
        free: int,
    ) -> Mapping[int, RunnerWork]:
        """Return the request to each partition; one that has nothing for the runner gets none."""
        own_calls: dict[int, list[CallPlace]] = {}
        for call in makes:
            own_calls.setdefault(self._place(call.execution), []).append(call)
        wanted = {
            place: owner.waiting + len(reports.get(place, ())) for place, owner in owners.items()
        }
        shares = self._shares(wanted, free)
        works = {}
        for place, owner in owners.items():
            mine = reports.get(place, ())
            own = [*own_calls.get(place, ()), *self._sent.get(place, ())]
            looks = place in self._doubts or (bool(self.quick) and owner.has_waiting)
            if mine or own or shares.get(place) or looks:
                self._doubts.discard(place)
                given = [(one.execution, one.given) for one in mine]
                share = shares.get(place, 0)
                works[place] = RunnerWork(
                    given, [], runner=runner, makes=own, free=share, quick=self.quick
                )
        return works

    def _shares(self, wanted: Mapping[int, int], free: int) -> Mapping[int, int]:
        """Divide what is free, one by one; who comes first in one round is last in the next."""
        places = sorted(place for place, number in wanted.items() if number)
        shares = dict.fromkeys(places, 0)
        left, turn = dict(wanted), self._turn
        self._turn += 1
        while free and places:
            places = [place for place in places if left[place]]
            for number in range(len(places)):
                if not free:
                    break
                place = places[(number + turn) % len(places)]
                shares[place] += 1
                left[place] -= 1
                free -= 1
        return shares

    def holders(self) -> set[Runner]:
        """Return the runners that hold calls here."""
        owners = self.owners.working().values()
        return set().union(*(owner.held.calls.holders() for owner in owners))

    def lose(self, runner: Runner) -> int:
        """Let every call be lost that a runner held here; return how many there were.

        Raises:
            As `work`.
        """
        works = []
        for owner in self.owners.working().values():
            if runner in owner.held.calls.holders():
                works.append(LossWork([], [], runner=runner))
                owner.request(works[-1])
        for work in works:
            _ = work.answer.result(self.within_s)
        return sum(len(work.inputs) for work in works)

    def _forward_report(self, report: CallReport) -> None:
        try:
            self._forward(report.execution, ExecutionGiven(report.given))
        except LogTooLarge:
            shorter = shorter_report(report.given)
            if shorter is None:
                raise
            self._forward(report.execution, ExecutionGiven(shorter))

    def _forward(self, entity: str, letter: Letter) -> None:
        self.send(self._place(entity), entity, LETTER_FORM.write(letter))

    def _place(self, entity: str) -> int:
        return partition_of(entity, self.plan.entities)


def _place_of(report: CallReport) -> CallPlace:
    return CallPlace(report.execution, report.given.run, report.given.attempt)


def _with(
    work: RequestWork | None,
    inputs: Sequence[tuple[str, ExecutionInput]] = (),
    starts: Sequence[Execution] = (),
) -> RequestWork:
    before = RequestWork([], []) if work is None else work
    return RequestWork([*before.inputs, *inputs], [*before.starts, *starts])
