"""Ports of idempotency keys: claims on keys, and the stored answers of repeated requests."""

from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from supervisor.core.values.idempotency import KeyClaim, KeyRow, StoredAnswer


class Keys(Protocol):
    """Idempotency keys, by caller."""

    def find(self, caller: str, key: str) -> KeyRow | None:
        """Return the stored claim and answer of a key."""
        ...

    def take(self, claim: KeyClaim, over: str | None) -> bool:
        """Store a claim, in the place of the claim `over`, which has not acted, or as a new row.

        False, changing nothing: another claim was faster, or `over` has acted meanwhile.
        """
        ...

    def act(self, claim_id: str) -> bool:
        """Record that the claim acts, in the transaction of its action.

        False: the claim no longer holds its key, and must not act.
        """
        ...

    def answer(self, claim_id: str, answer: StoredAnswer) -> None:
        """Store the answer, if the claim still holds its key."""
        ...

    def release(self, claim_id: str) -> None:
        """Delete the key, unless the claim has acted."""
        ...

    def trim(self, before: datetime, caller: str) -> None:
        """Delete a bounded number of rows that are older, or beyond what is kept of the caller.

        Keys of executions are left alone.
        """
        ...

    def executions(self, before: datetime, after: str, limit: int) -> list[str]:
        """Return ids of executions that have keys older than `before`, in order behind `after`."""
        ...

    def forget(self, execution: str) -> None:
        """Delete the keys of an execution."""
        ...


class ActsOnce(Protocol):
    """A store whose transactions know the claim for which they are opened."""

    def acting_for(self, claim_id: str) -> AbstractContextManager[None]:
        """Mark the claim as acted, in each leader's transaction opened in this context.

        Such a transaction is refused with `KeyTakenOver` if the claim no longer holds its key.
        """
        ...
