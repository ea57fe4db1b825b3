"""Owners of flows: who applied the version that an execution runs, and what they may do now."""

from dataclasses import dataclass

from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import ExecutionNotFound, NotAllowed
from supervisor.core.values.permissions import ANYONE, Actor, Caller
from supervisor.ports.clock import Clock
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.store import Store
from supervisor.services.flows.access import answered

__all__ = ["FlowOwners"]


@dataclass(frozen=True)
class FlowOwners:
    """Looks owners up, anew for each call."""

    executions: ExecutionStore
    store: Store
    clock: Clock
    asks: bool
    """Whether callers are authenticated here; if not, everybody may do everything."""

    def of(self, call: StepCall) -> tuple[Caller, Actor]:
        """Return for whom a call is made, and the author of what it does.

        Raises:
            NotAllowed: the owner's access was revoked, or has expired.
            ExecutionNotFound: there is no such execution, or its flow's version is not kept.
        """
        with answered(), self.executions.reading() as rows:
            flow = rows.author_of(call.execution)
        if flow is None:
            raise ExecutionNotFound(call.execution)
        author = Actor.named(flow.author, reason_of_effect(call))
        if not self.asks:
            return Caller(flow.author, None, ANYONE.grants), author
        with self.store.reading() as tx:
            principal = tx.access.get(flow.author)
        if principal is None or not principal.live(self.clock.now()):
            raise NotAllowed(
                f"{flow.author}, who applied version {flow.version} of {flow.flow}, has no access "
                "any more: somebody who has it applies the flow anew, and owns it then"
            )
        return Caller(principal.name, principal.kind, principal.grants), author


def reason_of_effect(call: StepCall) -> str:
    """Return the reason under which a call acts: it names the step and its effect."""
    return f"step {call.step} of {call.execution}, effect {call.run}/{call.effect}"
