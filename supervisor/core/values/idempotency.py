"""What a repeated Idempotency-Key means, decided from its row alone.

    no row ─► claimed ─┬─► acted ─► answered      the same request: the answer again
                       └─────────► answered       (a refusal, or nothing to change)

`acted` is written by the transaction of the action itself, and only while the claim is still the
caller's: so a key acts once, whatever crashes (docs/reference/api.md says what is not covered).
Source: draft-ietf-httpapi-idempotency-key-header-07.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

KEY_CHARACTERS_MAX = 200
KEPT = timedelta(hours=24)
"""So long a key is known."""
RUNS = timedelta(seconds=60)
"""A claim that has neither acted nor answered after so long is anybody's: its action is refused."""


@dataclass(frozen=True)
class StoredAnswer:
    """The first answer to a key."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class KeyClaim:
    """One try to carry out what a key stands for."""

    id: str
    """Random: it tells this try from every other one."""
    caller: str
    key: str
    digest: str
    """Of method, path, query and body."""
    term: int
    claimed_at: datetime


@dataclass(frozen=True)
class KeyRow:
    """What is stored of a key."""

    claim: KeyClaim
    acted: bool = False
    """A transaction of the action was committed."""
    answer: StoredAnswer | None = field(default=None)


class KeyVerdict(StrEnum):
    """What becomes of a request with a key."""

    FREE = "free"
    """It is carried out."""
    REPLAY = "replay"
    """It is answered with the first answer."""
    REUSED = "reused"
    """The key stands for another request."""
    IN_USE = "in use"
    """The first one is being carried out."""
    LOST = "lost"
    """It was carried out, and nobody knows its answer any more."""


def judge(row: KeyRow | None, claim: KeyClaim) -> KeyVerdict:
    """Decide what becomes of `claim` beside what is stored under its key."""
    if row is None:
        return KeyVerdict.FREE
    if row.claim.digest != claim.digest:
        return KeyVerdict.REUSED
    if row.answer is not None:
        return KeyVerdict.REPLAY
    runs = claim.claimed_at - row.claim.claimed_at < RUNS
    if row.claim.term == claim.term and runs:
        return KeyVerdict.IN_USE
    # A leader's process of an older term commits nothing any more (P1).
    return KeyVerdict.LOST if row.acted else KeyVerdict.FREE


def is_key(text: str) -> bool:
    """Whether it may be a key: 1 to 200 visible ASCII characters."""
    return 0 < len(text) <= KEY_CHARACTERS_MAX and all("!" <= c <= "~" for c in text)


def digest_of(*parts: bytes) -> str:
    """Return a digest of parts that cannot run into each other."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()
