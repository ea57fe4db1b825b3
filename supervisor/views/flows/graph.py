"""An execution as a picture."""

from supervisor.core.executions.entities import Execution, Phase
from supervisor.core.executions.graph import StepNode, edges_of, nodes_of
from supervisor.core.executions.states import ExecutionState, StepState
from tasks.contract.wire import Instant, Wire

__all__ = ["ExecutionGraph", "graph_view"]


class GraphNode(Wire):
    """One step of the flow, and what has come of it."""

    step: str
    type: str
    phase: Phase
    inside: str | None
    """The step that holds it; null: it is of a graph of the flow itself."""
    case: str | None
    """Of the `switch` that holds it; null: its default, or it is in none."""
    state: StepState | None
    """Null: it has not begun.  Of several runs: RUNNING until all have ended; then the worst."""
    runs: dict[StepState, int]
    """State -> how many task runs are in it; of a `forEach` there is one for each item."""
    kept: bool
    """Whether a rerun has taken it over."""
    attempts: int
    began_at: Instant | None
    ended_at: Instant | None
    """Null: not all of its runs have ended."""


class GraphEdge(Wire):
    """A step that begins after another one is done."""

    before: str
    after: str


class ExecutionGraph(Wire):
    """The steps of an execution, and which come after which."""

    execution: str
    state: ExecutionState
    nodes: list[GraphNode]
    """Those that hold others come before what they hold."""
    edges: list[GraphEdge]


def graph_view(execution: Execution) -> ExecutionGraph:
    """Return an execution as a picture."""
    nodes = nodes_of(execution)
    return ExecutionGraph(
        execution=execution.id,
        state=execution.state,
        nodes=[_node(node) for node in nodes],
        edges=[GraphEdge(before=before, after=after) for before, after in edges_of(nodes)],
    )


def _node(node: StepNode) -> GraphNode:
    return GraphNode(
        step=node.step,
        type=node.kind,
        phase=node.phase,
        inside=node.inside,
        case=node.case,
        state=node.state,
        runs=dict(node.runs),
        kept=node.kept,
        attempts=node.attempts,
        began_at=node.began_at,
        ended_at=node.ended_at,
    )
