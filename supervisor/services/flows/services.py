"""The services of flows: executions, triggers, and the door of webhooks."""

from dataclasses import dataclass, replace

from supervisor.control.leadership import Leadership
from supervisor.ports.clock import Clock
from supervisor.ports.reports.logs import LogStore
from supervisor.ports.store import Store
from supervisor.services.flows.executions import Executions, FlowPorts
from supervisor.services.flows.executor import ExecutorVerbs
from supervisor.services.flows.flows import Flows
from supervisor.services.flows.hooks import HookDoor, Hooks
from supervisor.services.flows.logs import ExecutionLogs
from supervisor.services.flows.triggers import Triggers
from supervisor.services.steps.calls import StepCalls, StepVerbs

__all__ = ["FlowServices", "flow_services_of"]


@dataclass(frozen=True)
class FlowServices:
    """All services about flows; one instance per process."""

    executions: Executions
    triggers: Triggers
    hooks: Hooks
    steps: StepCalls
    """The verbs of the product, for steps; without any until they are added."""
    logs: ExecutionLogs
    executor: ExecutorVerbs

    def with_verbs(self, verbs: StepVerbs) -> "FlowServices":
        """Return the same services, which make these verbs for executors."""
        return replace(self, steps=replace(self.steps, verbs=verbs))


def flow_services_of(
    ports: FlowPorts,
    store: Store,
    clock: Clock,
    leadership: Leadership,
    logs: LogStore | None = None,
) -> FlowServices:
    """Build the services of flows; nothing connects yet.  `logs`: those that are stored."""
    kept, engine, begun = ports.store, ports.engine, ports.begun
    flows = Flows(kept, store, clock, leadership, ports.language, ports.read_secret)
    flows = replace(flows, outgoing=ports.outgoing)
    door = HookDoor(clock, ports.lockout)
    return FlowServices(
        Executions(kept, engine, flows, store, clock, leadership, begun),
        Triggers(kept, ports.triggers, flows, store, clock, leadership, ports.read_secret, begun),
        Hooks(kept, ports.triggers, clock, door, ports.read_secret, begun),
        StepCalls(leadership, kept),
        ExecutionLogs(kept, logs),
        ExecutorVerbs(ports.desk, store, clock, leadership),
    )
