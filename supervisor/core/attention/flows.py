"""The attention rules of flows: executions that stand still, and those that failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
)

__all__ = ["FAILED_SHOWN", "STILL_AFTER", "FlowsStanding", "flow_items"]

STILL_AFTER = timedelta(minutes=1)
"""How long nothing may go on before somebody should know."""
FAILED_SHOWN = 3
"""Failed executions that an item names."""


@dataclass(frozen=True)
class FlowsStanding:
    """What a look at the database of executions has shown."""

    trouble: str = ""
    """Why it could not be read; empty: it could."""
    since: datetime | None = None
    """When it was first like this."""
    due: datetime | None = None
    """The earliest time for which an execution waits, which may have come."""
    failed: Sequence[tuple[str, str, datetime]] = ()
    """Executions begun in the last day that failed, newest first: id, why, and its end."""


def flow_items(standing: FlowsStanding | None, now: datetime) -> Iterator[AttentionItem]:
    """Yield what of flows needs somebody; None: nobody has looked yet."""
    if standing is None:
        return
    since = standing.since
    if standing.trouble and since is not None and now - since >= STILL_AFTER:
        text = f"flows do not run: {standing.trouble}"
        yield AttentionItem(
            Severity.AT_RISK, AttentionKind.FLOWS_STAND_STILL, THE_CLUSTER, text, since
        )
    if standing.due is not None and now - standing.due >= STILL_AFTER:
        minutes = (now - standing.due) // timedelta(minutes=1)
        yield AttentionItem(
            Severity.BROKEN,
            AttentionKind.FLOWS_STAND_STILL,
            THE_CLUSTER,
            f"an execution of a flow has been due for {minutes:,} min, and the leader does not "
            "work it in: its log says why",
            standing.due,
        )
    if standing.failed:
        yield _failed(standing.failed)


def _failed(failed: Sequence[tuple[str, str, datetime]]) -> AttentionItem:
    shown = "; ".join(f"{name} ({why})" if why else name for name, why, _ in failed[:FAILED_SHOWN])
    left = len(failed) - FAILED_SHOWN
    more = f"; and {left:,} more" if left > 0 else ""
    one = len(failed) == 1
    return AttentionItem(
        Severity.TO_KNOW,
        AttentionKind.EXECUTIONS_FAILED,
        THE_CLUSTER,
        f"{'an execution' if one else f'{len(failed):,} executions'} of the last day failed: "
        f"{shown}{more}; `tidegate execution rerun` begins one anew",
        min(at for _, _, at in failed),
    )
