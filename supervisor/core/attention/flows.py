"""The attention rules of flows: executions that stand still, dead inputs, and failed ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
)
from supervisor.core.attention.remedies import Remedy, RemedyAction
from supervisor.core.values.counts import counted
from supervisor.core.values.permissions import Permission

__all__ = ["FAILED_SHOWN", "STILL_AFTER", "FlowsStanding", "TopicsStanding", "flow_items"]

STILL_AFTER = timedelta(minutes=1)
"""How long nothing may go on before somebody should know."""
FAILED_SHOWN = 3
"""Failed executions that an item names."""
_EXECUTORS = Remedy(
    RemedyAction.OPEN_EXECUTORS,
    "See who works executions",
    Permission.READ,
    command="tidegate execution partitions",
)
_DEAD = Remedy(
    RemedyAction.LIST_DEAD_INPUTS,
    "See why, then replay or drop them",
    Permission.READ,
    command="tidegate execution dead list",
)


@dataclass(frozen=True)
class TopicsStanding:
    """What waits on its way to executors."""

    unsent_since: datetime | None = None
    """When the first was stored that is not on the topics yet."""
    why: str = ""
    """Why it is not; empty: nothing is known of a trouble."""
    unbegun_since: datetime | None = None
    """When an execution was created that is on the topics, and that nobody has begun."""
    dead: int = 0
    """Inputs that could not be worked in, and that nobody has handled, as far as is known."""


@dataclass(frozen=True)
class FlowsStanding:
    """What a look at the database of executions has shown."""

    trouble: str = ""
    """Why it could not be read; empty: it could."""
    since: datetime | None = None
    """When it was first like this."""
    due: datetime | None = None
    """The earliest time for which an execution waits, which may have come."""
    topics: "TopicsStanding | None" = None
    """Of executions on topics; None: they live in the database."""
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
        who = "the leader does not work it in" if standing.topics is None else "no executor does"
        text = f"an execution of a flow has been due for {minutes:,} min, and {who}"
        steps = () if standing.topics is None else (_EXECUTORS,)
        yield _still(f"{text}: the log says why", standing.due, steps)
    if standing.topics is not None:
        yield from _of_topics(standing.topics, now)
    if standing.failed:
        yield _failed(standing.failed)


def _of_topics(topics: TopicsStanding, now: datetime) -> Iterator[AttentionItem]:
    since = topics.unsent_since
    if since is not None and now - since >= STILL_AFTER:
        why = f": {topics.why}" if topics.why else ""
        yield _still(f"starts and inputs of flows do not get to Kafka{why}", since, (_EXECUTORS,))
    since = topics.unbegun_since
    if since is not None and now - since >= STILL_AFTER:
        text = "no executor begins what was started: is `tidegate executor` up?"
        yield _still(text, since, (_EXECUTORS,))
    if topics.dead:
        inputs = counted(topics.dead, "input of flows", "inputs of flows")
        yield AttentionItem(
            Severity.AT_RISK,
            AttentionKind.DEAD_INPUTS,
            THE_CLUSTER,
            f"{inputs} could not be worked in: their executions may wait for ever",
            None,
            (_DEAD,),
        )


def _still(text: str, since: datetime, steps: tuple[Remedy, ...]) -> AttentionItem:
    kind = AttentionKind.FLOWS_STAND_STILL
    return AttentionItem(Severity.BROKEN, kind, THE_CLUSTER, text, since, steps)


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
