"""Attention rule of replicas that made different rows of the same records (B11)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.remedies import diverged_steps
from supervisor.core.values.counts import counted

DIVERGED_SHOWN_FOR = timedelta(days=7)
"""Time for which a divergence of replicas is shown; the event and the range keep it longer."""


@dataclass(frozen=True)
class DivergedRange:
    """A published range of which another replica made other rows."""

    supervisor_id: str
    data_source: str
    generation_id: str
    published_at: datetime


def divergence_items(ranges: Iterable[DivergedRange]) -> Iterator[AttentionItem]:
    """Yield one item per supervisor with such ranges."""
    by_supervisor: dict[str, list[DivergedRange]] = {}
    for each in sorted(ranges, key=lambda each: (each.published_at, each.generation_id)):
        by_supervisor.setdefault(each.supervisor_id, []).append(each)
    for supervisor_id, mine in by_supervisor.items():
        count = counted(len(mine), "range")
        yield AttentionItem(
            Severity.AT_RISK,
            AttentionKind.REPLICAS_DIVERGED,
            Subject(SubjectKind.SUPERVISOR, supervisor_id),
            f"replicas of {supervisor_id} made different rows of the same records in {count} of "
            f"the last {DIVERGED_SHOWN_FOR.days} days, the last one {mine[-1].generation_id}: the "
            "rows of one replica are wrong, perhaps the published ones",
            mine[0].published_at,
            diverged_steps(supervisor_id, mine[-1].generation_id),
            data_source=mine[-1].data_source,
        )
