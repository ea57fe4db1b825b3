"""The parts that commands need to read a flow and to try it without a server."""

from supervisor.adapters.expressions import CelExpressions
from supervisor.core.flows.document import FlowDocument
from supervisor.core.flows.reading import read_flow
from supervisor.executions.batch import FlowOf
from supervisor.executions.simulate import NamedOutcome, Simulation

__all__ = ["flow_from", "simulation_of"]


def flow_from(document: object) -> FlowDocument:
    """Return the flow of a document.

    Raises:
        InvalidFlow: it has errors; each with its pointer and what to do.
    """
    return read_flow(document, CelExpressions())


def simulation_of(outcomes: dict[str, list[NamedOutcome]], flow_of: FlowOf) -> Simulation:
    """Return a try of a flow.  `flow_of` gives the flows that it calls."""
    return Simulation(CelExpressions(), flow_of, outcomes)
