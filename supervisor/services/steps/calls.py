"""Calls of executors: the verbs of the product act here, at the leader, for steps of flows.

Each verb acts once per key, so that a call whose answer got lost is made again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

from supervisor.control.leadership import Leadership
from supervisor.core.executions.inputs import Outcome
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import LeaseLost, StepVerbNotFound, Unavailable
from supervisor.executions.hidden import hidden
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.services.flows.access import answered

__all__ = ["StepCalls", "StepVerbs"]

StepVerbs = Mapping[str, Callable[[StepCall, Event], Outcome]]
"""The type of a step -> what makes a call of it; the event is set once it shall stop."""


@dataclass(frozen=True)
class StepCalls:
    """Makes calls; one instance per process, safe to call from many threads."""

    leadership: Leadership
    executions: ExecutionStore
    verbs: StepVerbs = field(default_factory=dict)

    def make(self, call: StepCall, cancel: Event) -> Outcome:
        """Make one call, or one look; what is begun stops once `cancel` is set, if it can.

        Raises:
            StepVerbNotFound: the overlord has no such verb.
            LeaseLost: another overlord leads, or did meanwhile: make the call there.
            Unavailable: the tables do not know the execution yet: make the call again.
            ExecutionStoreUnavailable: they do not answer.
        """
        term = self.leadership.term()
        verb = self.verbs.get(call.verb)
        if verb is None:
            raise StepVerbNotFound(call.verb, sorted(self.verbs))
        with answered(), self.executions.reading() as rows:
            known = rows.versions([call.execution])
        if not known:  # that of a `subflow` step begins on the topics
            raise Unavailable(f"the execution {call.execution} is not in the tables yet")
        outcome = verb(call, cancel)
        # What a leader that was deposed could not do is no failure of the step.
        if self.leadership.term() != term:
            raise LeaseLost("another overlord has led meanwhile")
        return hidden(outcome)
