"""Verbs on triggers: looked at, paused, resumed, fired by hand."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from supervisor.control.leadership import Leadership
from supervisor.core.flows.stored_triggers import (
    StoredTrigger,
    about_publishes,
    about_slot,
    kind_of,
)
from supervisor.core.flows.triggers import PublishedTrigger, ScheduleTrigger, WebhookTrigger
from supervisor.core.model.rows import AuditEntry
from supervisor.core.values.errors import SecretMissing, StepRefuses, TriggerNotFound
from supervisor.core.values.permissions import Actor
from supervisor.executions.triggers import CannotFire, TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.flows.executions import ExecutionStore
from supervisor.ports.store import Store
from supervisor.services.flows.access import answered
from supervisor.services.flows.flows import Flows
from tasks.contract.kafka_client import SecretRef

__all__ = ["Triggers"]


@dataclass(frozen=True)
class Triggers:
    """The verbs on triggers; one instance per process, safe to call from many threads.

    Each raises `ExecutionStoreUnavailable`; those that change something raise `LeaseLost` too.
    """

    executions: ExecutionStore
    engine: TriggerEngine
    flows: Flows
    store: Store
    clock: Clock
    leadership: Leadership
    read_secret: Callable[[SecretRef], str]
    """Raises `SecretMissing`."""
    begun: Callable[[], None] = lambda: None
    """Called when there may be calls to make."""

    def of_flow(self, flow: str) -> Sequence[StoredTrigger]:
        """Return the triggers of a flow, by name.

        Raises:
            FlowNotFound: there is no such flow.
        """
        self.flows.get(flow)
        with answered(), self.executions.reading() as rows:
            return rows.triggers.of_flow(flow)

    def get(self, flow: str, name: str) -> StoredTrigger:
        """Return a trigger.

        Raises:
            FlowNotFound, TriggerNotFound: there is none.
        """
        triggers = {each.name: each for each in self.of_flow(flow)}
        if name not in triggers:
            raise TriggerNotFound(flow, name, list(triggers))
        return triggers[name]

    def problem_of(self, trigger: StoredTrigger) -> str:
        """Return why a trigger does not fire; empty: nothing keeps it from that."""
        definition = trigger.definition
        if isinstance(definition, WebhookTrigger):
            try:
                self.read_secret(SecretRef(environment=definition.secret))
            except SecretMissing as error:
                return str(error)
        return trigger.problem

    def pause(self, flow: str, name: str, author: Actor) -> StoredTrigger:
        """Let a trigger fire no more; one that is paused is left as it is.

        Raises:
            FlowNotFound, TriggerNotFound: there is none.
        """
        return self._switched(flow, name, author, paused=True)

    def resume(self, flow: str, name: str, author: Actor) -> StoredTrigger:
        """Let a trigger fire again, from now on; raises as `pause`."""
        return self._switched(flow, name, author, paused=False)

    def fire(self, flow: str, name: str, author: Actor) -> str:
        """Start an execution now, paused or not; return its id.

        Raises:
            FlowNotFound, TriggerNotFound: there is none.
            InvalidInputs: the flow takes others than the trigger gives by hand.
            StepRefuses: it cannot fire.
        """
        trigger = self.get(flow, name)
        about = {**self._about(trigger), "by": str(author)}
        slot = f"~{self.clock.now():%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        self._audit(author, "fire-trigger", trigger)
        try:
            with answered():
                fired = self.engine.take_request(trigger, slot, about, {})
        except CannotFire as error:
            raise StepRefuses(f"{flow}/{name}: {error}") from None
        self.begun()
        return fired.execution

    def _about(self, trigger: StoredTrigger) -> dict[str, JsonValue]:
        match trigger.definition:
            case ScheduleTrigger():
                return about_slot(trigger, self.clock.now(), 0)
            case PublishedTrigger():
                return about_publishes(trigger, [])
            case _:
                return {"type": kind_of(trigger.definition), "name": trigger.name}

    def _switched(self, flow: str, name: str, author: Actor, *, paused: bool) -> StoredTrigger:
        trigger = self.get(flow, name)
        if trigger.paused == paused:
            return trigger
        term = self.leadership.term()
        self._audit(author, "pause-trigger" if paused else "resume-trigger", trigger)
        with answered(), self.executions.working(term) as rows:
            current = rows.triggers.find(flow, name)
            if current is None:
                raise TriggerNotFound(flow, name, [])
            now = self.clock.now()
            switched = current.with_pause(str(author) if paused else None, now)
            rows.triggers.put(switched)
        return switched

    def _audit(self, author: Actor, action: str, trigger: StoredTrigger) -> None:
        """Write the entry first: what was done must never be without its audit."""
        now, detail = self.clock.now(), {"trigger": trigger.name}
        with self.store.leading(self.leadership.term()) as tx:
            tx.audit.write(AuditEntry(now, author, action, trigger.flow, detail))
