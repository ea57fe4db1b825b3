"""Attention rules of persisters: silent or stopped ones, reports that are behind, dead letters.

Nothing of it makes a supervisor unhealthy: no task waits for a report.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.remedies import Remedy, RemedyAction
from supervisor.core.values.permissions import Permission

__all__ = ["ReportsBehind", "WatchedPersister", "behind_of", "behind_words", "persister_items"]

BEHIND_AFTER = timedelta(minutes=5)
"""The age of the oldest record from which reports are behind."""
TROUBLED_AFTER = timedelta(minutes=1)
"""A persister that starts again, or whose store is away for a moment, is none of an item."""
_STOPPED, _BACKING_OFF = "STOPPED", "BACKING_OFF"


@dataclass(frozen=True)
class WatchedPersister:
    """A persister as it was when it was asked last."""

    url: str
    state: str | None
    """Its own word; None: it does not answer."""
    since: datetime
    """Since when it is in this state, as far as this leader has seen."""
    reason: str = ""
    lag: Mapping[str, int] = field(default_factory=dict)
    """Topic -> records that the group has not done; the same by each persister of a group."""
    lag_seconds: Mapping[str, float] = field(default_factory=dict)
    """Topic -> age of the oldest of them, where it is known."""
    stored: int | None = None
    """Records that it has stored since its start."""
    dead_letters: int | None = None
    lost: int = 0
    """Records that the topics' retention has deleted before they were stored."""


@dataclass(frozen=True)
class ReportsBehind:
    """How far the stored reports are behind what workers have sent."""

    records: int
    age: timedelta | None
    """Of the oldest one; None: it is not known."""

    @property
    def is_late(self) -> bool:
        """Whether somebody should know."""
        return self.records > 0 and self.age is not None and self.age >= BEHIND_AFTER


def behind_of(persisters: Sequence[WatchedPersister]) -> ReportsBehind | None:
    """Return how far they are behind; None: no persister says it."""
    records: dict[str, int] = {}
    ages: list[float] = []
    for each in persisters:
        if each.state is not None:
            records |= {t: max(n, records.get(t, 0)) for t, n in each.lag.items()}
            ages += each.lag_seconds.values()
    if not any(each.state is not None for each in persisters):
        return None
    age = timedelta(seconds=round(max(ages))) if ages else None
    return ReportsBehind(sum(records.values()), age)


def behind_words(behind: ReportsBehind) -> str:
    """Return how far they are behind, for a sentence."""
    records = "1 record" if behind.records == 1 else f"{behind.records:,} records"
    return records if behind.age is None else f"{records}, the oldest {_words(behind.age)} old"


def persister_items(
    persisters: Sequence[WatchedPersister], now: datetime
) -> Iterator[AttentionItem]:
    """Yield the items of all persisters."""
    for each in persisters:
        if each.state is None and now - each.since >= TROUBLED_AFTER:
            yield _item(
                each,
                AttentionKind.PERSISTER_SILENT,
                f"the persister at {each.url} does not answer: {each.reason}; reports and logs "
                "wait in their topics, and tasks go on",
                Remedy(
                    RemedyAction.ASK_PERSISTER,
                    "Start it, or read its log",
                    None,
                    {"persister": each.url},
                    f"tidegate reports status --persister {shlex.quote(each.url)}",
                ),
            )
        elif each.state == _STOPPED:
            yield _item(
                each,
                AttentionKind.PERSISTER_STOPPED,
                f"the persister at {each.url} stores nothing: {each.reason or 'it was stopped'}; "
                "reports and logs wait in their topics, and tasks go on",
                _resume(each.url),
            )
        elif each.state == _BACKING_OFF and now - each.since >= TROUBLED_AFTER:
            yield _item(
                each,
                AttentionKind.PERSISTER_STOPPED,
                f"the persister at {each.url} does not reach its store: {each.reason}; it tries "
                "again by itself",
                None,
            )
    yield from _of_all(persisters)


def _of_all(persisters: Sequence[WatchedPersister]) -> Iterator[AttentionItem]:
    answering = [each for each in persisters if each.state is not None]
    if not answering:
        return
    first = answering[0]
    behind = behind_of(answering)
    if behind is not None and behind.is_late and first.state != _STOPPED:
        yield _item(
            first,
            AttentionKind.REPORTS_BEHIND,
            f"stored reports are behind by {behind_words(behind)}: a log or report of a task that "
            "ended lately may be missing until they catch up",
            Remedy(
                RemedyAction.ASK_PERSISTER,
                "See what holds it up, or start another persister",
                None,
                {"persister": first.url},
                "tidegate reports status",
            ),
            since=None,
        )
    if letters := max(each.dead_letters or 0 for each in answering):
        them = "1 record" if letters == 1 else f"{letters:,} records"
        yield _item(
            first,
            AttentionKind.DEAD_LETTERS,
            f"{them} of reports could not be stored, and wait for somebody as dead letters",
            Remedy(
                RemedyAction.LIST_DEAD_LETTERS,
                "See why, then replay or drop them",
                Permission.READ,
                {"persister": first.url},
                f"tidegate reports dead list --persister {shlex.quote(first.url)}",
            ),
            severity=Severity.TO_KNOW,
            since=None,
        )


def _item(
    persister: WatchedPersister,
    kind: AttentionKind,
    text: str,
    remedy: Remedy | None,
    *,
    severity: Severity = Severity.AT_RISK,
    **more: datetime | None,
) -> AttentionItem:
    return AttentionItem(
        severity,
        kind,
        Subject(SubjectKind.PERSISTER, persister.url),
        text,
        more.get("since", persister.since),
        () if remedy is None else (remedy,),
    )


def _resume(url: str) -> Remedy:
    return Remedy(
        RemedyAction.RESUME_PERSISTER,
        "Let it go on, once what it names is mended",
        None,
        {"persister": url},
        f"tidegate reports resume --persister {shlex.quote(url)}",
    )


def _words(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    if minutes < 1:
        return f"{int(age.total_seconds())} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"  # noqa: PLR2004 -- for people
