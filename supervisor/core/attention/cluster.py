"""Attention rules of the whole: who leads, a silent database, tokens that end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from supervisor.core.attention.items import (
    THE_CLUSTER,
    AttentionItem,
    AttentionKind,
    Severity,
    Subject,
    SubjectKind,
)
from supervisor.core.attention.outside import (
    missing_leader_steps,
    replaced_leader_steps,
    silent_database_steps,
)

TOKEN_NOTICE = timedelta(days=14)
TOKEN_URGENT = timedelta(days=2)
REPLACED_SHOWN_FOR = timedelta(hours=1)
"""Time for which a change of the leader is shown."""


@dataclass(frozen=True)
class LeaderReplaced:
    """A lease that an overlord took over from another one, which had not renewed it in time."""

    before: str
    """Address of the overlord that led."""
    leader: str
    """Address of the overlord that leads since."""
    at: datetime


@dataclass(frozen=True)
class EndingToken:
    """A token that may be used, and when it ends."""

    name: str
    ends_at: datetime


def token_items(tokens: Iterable[EndingToken], now: datetime) -> Iterator[AttentionItem]:
    """Yield the tokens that end within `TOKEN_NOTICE`."""
    for token in tokens:
        left = token.ends_at - now
        if not timedelta(0) < left <= TOKEN_NOTICE:
            continue
        yield AttentionItem(
            Severity.AT_RISK if left <= TOKEN_URGENT else Severity.TO_KNOW,
            AttentionKind.TOKEN_ENDING,
            Subject(SubjectKind.PRINCIPAL, token.name),
            f"the token {token.name} ends at {token.ends_at:%Y-%m-%d %H:%M} UTC: whoever uses it "
            "then is refused, so make another one before",
            token.ends_at - TOKEN_NOTICE,
        )


def no_leader(since: datetime | None) -> AttentionItem:
    """Return the item of an overlord that knows of no leader.

    `since`: when it saw a lease renewed last; None: it has seen none.
    """
    return AttentionItem(
        Severity.BROKEN,
        AttentionKind.NO_LEADER,
        THE_CLUSTER,
        "no overlord leads: tasks read on, but nothing is handed off, published or changed until "
        "one does",
        since,
        missing_leader_steps(),
    )


def leader_items(replaced: LeaderReplaced | None, now: datetime) -> Iterator[AttentionItem]:
    """Yield that another overlord leads, for an hour; None: the leader has replaced no other."""
    if replaced is None or now - replaced.at >= REPLACED_SHOWN_FOR:
        return
    yield AttentionItem(
        Severity.TO_KNOW,
        AttentionKind.LEADER_REPLACED,
        THE_CLUSTER,
        f"the overlord {replaced.before} did not renew its lease in time, so {replaced.leader} "
        f"leads since {replaced.at:%H:%M:%S} UTC; if nobody stopped it, see its log",
        replaced.at,
        replaced_leader_steps(replaced.before),
    )


def silent_database(why: str, since: datetime | None) -> AttentionItem:
    """Return the item of a metadata database that does not answer.

    `why` is its error, `since` the beginning of its silence.
    """
    return AttentionItem(
        Severity.BROKEN,
        AttentionKind.DATABASE_SILENT,
        THE_CLUSTER,
        f"the metadata database does not answer: {why}; nothing is handed off, published or "
        "changed until it does",
        since,
        silent_database_steps(),
    )
