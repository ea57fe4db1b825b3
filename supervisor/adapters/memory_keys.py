"""Idempotency keys in memory."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from supervisor.adapters.memory_rows import Tables
from supervisor.core.idempotency import Claim, KeyRow, StoredAnswer

KEPT = 100_000
"""Keys; the oldest go first."""


class MemoryKeys:
    """See `ports_keys.Keys`."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.keys

    def find(self, caller: str, key: str) -> KeyRow | None:
        """Return what is stored under a key."""
        return self._rows.get_row((caller, key))

    def take(self, claim: Claim, over: str | None) -> bool:
        """Store a claim in the place of `over`, or as a new row; False: somebody was faster."""
        name = claim.caller, claim.key
        found = self._rows.get_row(name)
        if (None if found is None else found.claim.id) != over:
            return False
        if found is not None and (found.acted or found.answer is not None):
            return False
        self._rows.put(name, KeyRow(claim))
        return True

    def act(self, claim_id: str) -> bool:
        """Record that the claim acts; False: it holds its key no more."""
        return self._changed(claim_id, lambda row: replace(row, acted=True))

    def answer(self, claim_id: str, answer: StoredAnswer) -> None:
        """Keep the answer, if the claim still holds its key."""
        self._changed(claim_id, lambda row: replace(row, answer=answer))

    def release(self, claim_id: str) -> None:
        """Give the key free, unless the claim has acted."""
        for name, row in list(self._rows.items()):
            if row.claim.id == claim_id and not row.acted:
                self._rows.drop(name)

    def trim(self, before: datetime) -> None:
        """Delete rows that are older, or more than 100,000 behind the newest."""
        beyond = len(self._rows) - KEPT
        for number, (name, row) in enumerate(list(self._rows.items())):
            if row.claim.claimed_at < before or number < beyond:
                self._rows.drop(name)

    def _changed(self, claim_id: str, change: Callable[[KeyRow], KeyRow]) -> bool:
        for name, row in self._rows.items():
            if row.claim.id == claim_id:
                self._rows.put(name, change(row))
                return True
        return False
