"""Idempotency keys: a request with an Idempotency-Key acts once, and is answered alike for a day.

begin ── the key is free ──► claim ─► the action marks it in its own transaction ─► end
└── answered before ──► the first answer
"""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import assert_never

from supervisor.core.values.errors import AnswerLost, KeyInUse, KeyReused, MetadataBusy
from supervisor.core.values.idempotency import KEPT, KeyClaim, KeyVerdict, StoredAnswer, judge
from supervisor.ports.clock import Clock
from supervisor.ports.store import ActingStore

TRIES = 5
"""Rounds of a race for one key; in each round, one of the racers gets the key."""


@dataclass(frozen=True)
class KeyedRequest:
    """A request with a key: its caller, its key, and a digest of its content."""

    caller: str
    key: str
    digest: str


@dataclass(frozen=True)
class Idempotency:
    """The idempotency keys of this overlord's callers; one instance per process."""

    store: ActingStore
    clock: Clock
    term: Callable[[], int]

    def begin(self, request: KeyedRequest) -> KeyClaim | StoredAnswer:
        """Return the stored answer, or a claim: with a claim, the caller acts and calls `end`.

        Raises:
            KeyReused, KeyInUse, AnswerLost: the request must not act.
            LeaseLost, Unavailable: the state of the key is unknown.
        """
        for _ in range(TRIES):
            begun = self._begun(request)
            if begun is not None:
                return begun
        raise MetadataBusy(f"others keep sending Idempotency-Key {request.key}")

    def _begun(self, request: KeyedRequest) -> KeyClaim | StoredAnswer | None:
        now, term = self.clock.now(), self.term()
        claim = KeyClaim(
            secrets.token_hex(16), request.caller, request.key, request.digest, term, now
        )
        with self.store.leading(term) as tx:
            tx.keys.trim(now - KEPT, request.caller)
            row = tx.keys.find(request.caller, request.key)
            verdict = judge(row, claim)
            match verdict:
                case KeyVerdict.FREE:
                    over = None if row is None else row.claim.id
                    return claim if tx.keys.take(claim, over) else None
                case KeyVerdict.REPLAY:
                    assert row is not None
                    return row.answer
                case KeyVerdict.REUSED:
                    raise KeyReused(request.key)
                case KeyVerdict.IN_USE:
                    raise KeyInUse(request.key)
                case KeyVerdict.LOST:
                    raise AnswerLost(request.key)
                case _:
                    assert_never(verdict)

    def acting_for(self, claim: KeyClaim) -> AbstractContextManager[None]:
        """Let each transaction in this context mark the claim as acted."""
        return self.store.acting_for(claim.id)

    def end(self, claim: KeyClaim, answer: StoredAnswer | None) -> None:
        """Store the answer; None: release the claim, which frees the key unless the request acted.

        Raises:
            LeaseLost, Unavailable: the answer was not stored.
        """
        with self.store.leading(self.term()) as tx:
            if answer is None:
                tx.keys.release(claim.id)
            else:
                tx.keys.answer(claim.id, answer)
