"""Attention rules of the whole: no leader, a silent database, tokens that end."""

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

TOKEN_NOTICE = timedelta(days=14)
TOKEN_URGENT = timedelta(days=2)


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


def no_leader() -> AttentionItem:
    """Return the item of an overlord that knows of no leader."""
    return AttentionItem(
        Severity.BROKEN,
        AttentionKind.NO_LEADER,
        THE_CLUSTER,
        "no overlord leads: tasks read on, but nothing is handed off, published or changed until "
        "one does",
        None,
    )


def silent_database(why: str) -> AttentionItem:
    """Return the item of a metadata database that does not answer; `why` is its error."""
    return AttentionItem(
        Severity.BROKEN,
        AttentionKind.DATABASE_SILENT,
        THE_CLUSTER,
        f"the metadata database does not answer: {why}; nothing is handed off, published or "
        "changed until it does",
        None,
    )
