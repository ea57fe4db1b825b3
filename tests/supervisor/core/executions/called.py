"""Flows as steps of tests call them: plans alone, or with the inputs that they declare."""

from collections.abc import Mapping

from supervisor.core.executions.plan import FlowPlan
from supervisor.core.flows.children import CalledFlow
from supervisor.executions.batch import FlowOf


def flow_of(flows: Mapping[str, FlowPlan | CalledFlow]) -> FlowOf:
    """Return how an engine finds these flows; a plan alone is a flow without inputs."""

    def find(name: str) -> CalledFlow | None:
        flow = flows.get(name)
        return CalledFlow(flow) if isinstance(flow, FlowPlan) else flow

    return find
