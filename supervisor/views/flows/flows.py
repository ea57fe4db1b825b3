"""Response models of flows."""

from pydantic import JsonValue

from supervisor.core.flows.stored import StoredFlow
from tasks.contract.wire import Instant, Wire

__all__ = ["AppliedFlowView", "FlowPage", "FlowVersionView", "FlowVersionsPage", "flow_view"]


class FlowVersionView(Wire):
    """One version of a flow."""

    flow: str
    version: int
    document: dict[str, JsonValue] | None
    """As its author wrote it; null: this version deletes the flow."""
    digest: str
    """Of the document: equal documents have equal ones."""
    author: str
    reason: str | None
    at: Instant


class AppliedFlowView(Wire):
    """A flow that was applied."""

    flow: FlowVersionView
    changed: bool
    """False: the newest version is equal, and no further one was made."""


class FlowPage(Wire):
    """The newest version of each flow, by name."""

    flows: list[FlowVersionView]
    next: str | None
    """The `after` of the next page; null: there is none."""


class FlowVersionsPage(Wire):
    """Versions of one flow, newest first."""

    versions: list[FlowVersionView]
    next: int | None
    """The `before` of the next page; null: there is none."""


def flow_view(flow: StoredFlow) -> FlowVersionView:
    """Return a version as the API has it."""
    return FlowVersionView(
        flow=flow.name,
        version=flow.version,
        document=None if flow.document is None else dict(flow.document),
        digest=flow.digest,
        author=flow.author,
        reason=flow.reason,
        at=flow.at,
    )
