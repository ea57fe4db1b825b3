"""What a rerun of an execution would do."""

from supervisor.core.executions.rerun import RerunPreview
from tasks.contract.wire import Wire

__all__ = ["RerunPlanView", "rerun_plan_view"]


class RerunPlanView(Wire):
    """What a rerun would do, by names of steps."""

    flow_version: int
    keeps: list[str]
    """Steps of the flow's own graph that are done: their outputs are kept."""
    goes_on: list[str]
    """Steps around others, of which a part is kept."""
    runs: list[str]
    """Steps of the flow's own graph that begin anew."""
    changed: list[str]
    """Kept steps that are others in this version, at any depth: it has to be forced."""


def rerun_plan_view(preview: RerunPreview) -> RerunPlanView:
    """Return a preview as the API has it."""
    return RerunPlanView(
        flow_version=preview.version,
        keeps=preview.keeps,
        goes_on=preview.goes_on,
        runs=preview.runs,
        changed=preview.changed,
    )
