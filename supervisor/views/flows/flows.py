"""Response models of flows."""

from pydantic import JsonValue

from supervisor.core.flows.differences import FlowDifference
from supervisor.core.flows.stored import StoredFlow
from tasks.contract.wire import Instant, Wire

__all__ = [
    "AppliedFlowView",
    "FlowDiffView",
    "FlowPage",
    "FlowVersionView",
    "FlowVersionsPage",
    "difference_view",
    "flow_view",
]


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


class FlowDifferenceView(Wire):
    """One place at which two versions differ."""

    place: str
    """Such as `steps/pack/retry/attempts`: steps, inputs and triggers are known by name."""
    old: JsonValue
    """Null: the place is not there."""
    new: JsonValue


class FlowDiffView(Wire):
    """What differs between two versions of a flow."""

    flow: str
    old: int
    new: int
    differences: list[FlowDifferenceView]
    """Empty: the documents are equal."""


def difference_view(one: FlowDifference) -> FlowDifferenceView:
    """Return a difference as the API has it."""
    return FlowDifferenceView(place=one.place, old=one.old, new=one.new)


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
