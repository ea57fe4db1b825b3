"""Attention rules of exports: stuck ones, failing ones, and those that stay behind."""

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
from supervisor.core.tables.exports import Export, ExportState, Waiting, lag_of, state_of

BEHIND_AFTER = timedelta(minutes=10)
"""As for queues: an export is tried again each minute, and a try may take 5."""


@dataclass(frozen=True)
class WatchedExport:
    """An export with the state of its queue."""

    export: Export
    waiting: Waiting
    is_dead: bool = False
    """Its event queue is dead, which is an item of its own."""

    @property
    def state(self) -> ExportState:
        """The state of the export."""
        return state_of(self.export, self.waiting)


def export_items(exports: Iterable[WatchedExport], now: datetime) -> Iterator[AttentionItem]:
    """Yield the exports that are stuck, or behind for longer than `BEHIND_AFTER`."""
    for each in exports:
        export, state = each.export, each.state
        if each.is_dead or state in {ExportState.OFF, ExportState.EQUAL}:
            continue
        name = f"{export.data_source}/{export.format}"
        about = Subject(SubjectKind.EXPORT, name)
        if state is ExportState.STUCK:
            yield AttentionItem(
                Severity.BROKEN,
                AttentionKind.EXPORT_STUCK,
                about,
                f"the export of {export.data_source} as {export.format} stands still until "
                f"somebody acts: {export.problem}",
                export.behind_since,
                data_source=export.data_source,
            )
        elif lag_of(export, each.waiting.since, now) > BEHIND_AFTER:
            why = f": the last try failed: {each.waiting.error}" if each.waiting.error else ""
            marks = [at for at in (export.behind_since, each.waiting.since) if at is not None]
            yield AttentionItem(
                Severity.AT_RISK,
                AttentionKind.EXPORT_BEHIND,
                about,
                f"the export of {export.data_source} as {export.format} does not follow the "
                f"table{why}",
                min(marks, default=None),
                data_source=export.data_source,
            )
