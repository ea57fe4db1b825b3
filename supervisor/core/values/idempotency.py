"""The verdict on a repeated Idempotency-Key, decided from the row of the key alone.

    no row ─► claimed ─┬─► acted ─► answered      the same request: the answer again
                       └─────────► answered       (a refusal, or nothing to change)

The transaction of the action itself writes `acted`, and only while the claim still holds the key.
So a key acts once, whatever crashes (docs/reference/api.md names the exceptions).
Source: draft-ietf-httpapi-idempotency-key-header-07.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

KEY_CHARACTERS_MAX = 200
KEPT = timedelta(hours=24)
"""How long a key is stored."""
EXECUTION_CALLER = "execution/"
"""Begins the caller of a step's key, behind which is the id of its execution: such keys are kept
for as long as the execution lives.  Callers of the API are digests."""
RUNS = timedelta(seconds=60)
"""How long a claim may take to act or answer.

After that, another claim may take the key, and the action of the first claim is refused.
"""


@dataclass(frozen=True)
class StoredAnswer:
    """The first answer to a key."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class KeyClaim:
    """One try to carry out the request of a key."""

    id: str
    """A random id, different for each try."""
    caller: str
    key: str
    digest: str
    """The digest of method, path, query and body."""
    term: int
    claimed_at: datetime


@dataclass(frozen=True)
class KeyRow:
    """The stored row of a key."""

    claim: KeyClaim
    acted: bool = False
    """A transaction of the action was committed."""
    answer: StoredAnswer | None = field(default=None)


class KeyVerdict(StrEnum):
    """The verdict on a request with a key."""

    FREE = "free"
    """The request is carried out."""
    REPLAY = "replay"
    """The request gets the first answer again."""
    REUSED = "reused"
    """The key belongs to another request."""
    IN_USE = "in use"
    """The first request is still being carried out."""
    LOST = "lost"
    """The request was carried out, but its answer is lost."""


def judge(row: KeyRow | None, claim: KeyClaim) -> KeyVerdict:
    """Return the verdict on `claim`, given the stored row of its key."""
    if row is None:
        return KeyVerdict.FREE
    if row.claim.digest != claim.digest:
        return KeyVerdict.REUSED
    if row.answer is not None:
        return KeyVerdict.REPLAY
    runs = claim.claimed_at - row.claim.claimed_at < RUNS
    if row.claim.term == claim.term and runs:
        return KeyVerdict.IN_USE
    # A leader of an older term can no longer commit (P1).
    return KeyVerdict.LOST if row.acted else KeyVerdict.FREE


def is_key(text: str) -> bool:
    """Return whether `text` may be a key: 1 to 200 visible ASCII characters."""
    return 0 < len(text) <= KEY_CHARACTERS_MAX and all("!" <= c <= "~" for c in text)


def digest_of(*parts: bytes) -> str:
    """Return a digest of parts, in which the boundaries of the parts count."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(len(part).to_bytes(8) + part)
    return hasher.hexdigest()
