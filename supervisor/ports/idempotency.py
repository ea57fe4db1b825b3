"""What repeated requests need: which keys were used, and what was answered."""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from supervisor.core.values.idempotency import KeyClaim, KeyRow, StoredAnswer


class Keys(Protocol):
    """Idempotency keys, by caller."""

    def find(self, caller: str, key: str) -> KeyRow | None:
        """Return what is stored under a key."""
        ...

    def take(self, claim: KeyClaim, over: str | None) -> bool:
        """Store a claim, in the place of the claim `over`, which has not acted, or as a new row.

        False: somebody was faster, or `over` has acted meanwhile; nothing is changed.
        """
        ...

    def act(self, claim_id: str) -> bool:
        """Record that the claim acts, in the transaction of its action.

        False: it holds its key no more, and must not act.
        """
        ...

    def answer(self, claim_id: str, answer: StoredAnswer) -> None:
        """Keep the answer, if the claim still holds its key."""
        ...

    def release(self, claim_id: str) -> None:
        """Give the key free, unless the claim has acted."""
        ...

    def trim(self, before: datetime) -> None:
        """Delete a bounded number of rows that are older, or beyond what is kept."""
        ...


class ActsOnce(Protocol):
    """A store whose transactions know on behalf of which claim they are opened."""

    def acting_for(self, claim_id: str) -> AbstractContextManager[None]:
        """Mark the claim as acted in each leader's transaction that this context opens.

        Such a transaction is refused with `KeyTakenOver` if the claim holds its key no more.
        """
        ...
