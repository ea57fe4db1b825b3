"""The engine over the partitions that this process owns; what belongs to others goes there.

What concerns an execution of a partition that is worked here is answered after its commit.  Else it
is written to the history, where its owner reads it, and no more is known of it than that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from supervisor.executions.sequencer.places import partition_of
from supervisor.executions.sequencer.serving import LossWork, RunnerWork
from supervisor.executions.sequencer.work import RequestWork, WorkedInputs
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

        See `StoredEngine.serve`.  Of what it makes for partitions of others nothing is said.

        Raises:
            As `work`.
        """
        owners = self.owners.working()
        for report in reports:
            if self._place(report.execution) not in owners:
                self._forward(report.execution, ExecutionGiven(report.given))
        begin, stop = list[StepCall](), list[CallPlace]()
        for place in sorted(owners):
            work = RunnerWork(
                [
                    (one.execution, one.given)
                    for one in reports
                    if self._place(one.execution) == place
                ],
                [],
                runner=runner,
                makes=[one for one in makes if self._place(one.execution) == place],
                free=free - len(begin),
            )
            if work.inputs or work.makes or (work.free and owners[place].has_waiting):
                owners[place].request(work)
                orders = work.orders.result(self.within_s)
                begin += orders.begin
                stop += orders.stop
        return RunnerOrders(begin, stop)

    def lose(self, runner: Runner) -> int:
        """Let every call be lost that a runner held here; return how many there were.

        Raises:
            As `work`.
        """
        works = []
        for owner in self.owners.working().values():
            works.append(LossWork([], [], runner=runner))
            owner.request(works[-1])
        for work in works:
            _ = work.answer.result(self.within_s)
        return sum(len(work.inputs) for work in works)

    def _forward(self, entity: str, letter: Letter) -> None:
        self.send(self._place(entity), entity, LETTER_FORM.write(letter))

    def _place(self, entity: str) -> int:
        return partition_of(entity, self.plan.entities)


def _with(
    work: RequestWork | None,
    inputs: Sequence[tuple[str, ExecutionInput]] = (),
    starts: Sequence[Execution] = (),
) -> RequestWork:
    before = RequestWork([], []) if work is None else work
    return RequestWork([*before.inputs, *inputs], [*before.starts, *starts])
