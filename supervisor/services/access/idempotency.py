"""Requests that carry an Idempotency-Key act once, and are answered alike for a day.

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
from supervisor.ports.store import ActingStore, Clock

TRIES = 5
"""Rounds of a race for one key; each round, one of the racers has it."""


@dataclass(frozen=True)
class KeyedRequest:
    """What a key stands for: who asks, and a digest of what."""

    caller: str
    key: str
    digest: str


@dataclass(frozen=True)
class Idempotency:
    """The keys of this overlord's callers; one instance per process."""

    store: ActingStore
    clock: Clock
    term: Callable[[], int]

    def begin(self, request: KeyedRequest) -> KeyClaim | StoredAnswer:
        """Return the first answer, or a claim: then act, and call `end`.

        Raises:
            KeyReused, KeyInUse, AnswerLost: it must not act.
            LeaseLost, Unavailable: nothing is known.
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
            tx.keys.trim(now - KEPT)
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
        """Let what this context does mark the claim as acted."""
        return self.store.acting_for(claim.id)

    def end(self, claim: KeyClaim, answer: StoredAnswer | None) -> None:
        """Keep the answer; None: there is none worth keeping, and unless it acted, all is undone.

        Raises:
            LeaseLost, Unavailable: it is not kept.
        """
        with self.store.leading(self.term()) as tx:
            if answer is None:
                tx.keys.release(claim.id)
            else:
                tx.keys.answer(claim.id, answer)
