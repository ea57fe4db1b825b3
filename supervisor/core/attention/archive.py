"""The attention rule of the archive of events and audit: what it does not have for too long.

Nothing waits for the archive; but the metadata database keeps what is not stored, and grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
)
from supervisor.core.attention.remedies import Remedy, RemedyAction
from supervisor.core.history.archive import EVENTS_HELD

__all__ = ["UNSTORED_AFTER", "UnstoredHistory", "archive_items"]

UNSTORED_AFTER = timedelta(minutes=15)
"""The age of the oldest row that the archive lacks from which on somebody should know."""


@dataclass(frozen=True)
class UnstoredHistory:
    """What the archive does not have yet."""

    events: int
    entries: int
    """Audit entries."""
    since: datetime
    """The time of the oldest of them."""


def archive_items(unstored: UnstoredHistory | None, now: datetime) -> Iterator[AttentionItem]:
    """Yield that the archive is behind; None: it has everything, or there is none."""
    if unstored is None or now - unstored.since < UNSTORED_AFTER:
        return
    minutes = (now - unstored.since) // timedelta(minutes=1)
    events = "1 event" if unstored.events == 1 else f"{unstored.events:,} events"
    one = unstored.entries == 1
    lacks = f"{events} and {'1 audit entry' if one else f'{unstored.entries:,} audit entries'}"
    yield AttentionItem(
        Severity.AT_RISK,
        AttentionKind.ARCHIVE_BEHIND,
        THE_CLUSTER,
        f"the archive of history lacks {lacks}, the oldest {minutes:,} min old: they stay in the "
        f"metadata database, which grows; beyond {EVENTS_HELD:,} events the oldest go unsaved",
        unstored.since,
        (
            Remedy(
                RemedyAction.ASK_PERSISTER,
                "See whether a persister runs, and what holds it up",
                None,
                {},
                "tidegate reports status",
            ),
        ),
    )
