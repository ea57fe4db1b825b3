"""The effect of a step, once per key: a repeat finds what the first one did.

begin ── the key is free ──► the verb acts and marks the key in its transactions ─► kept
  ├── kept before        ──► what was kept
  ├── acted, not kept    ──► recalled from what it changed
  └── another attempt acts now ──► wait for it

The keys of an execution are kept for as long as it lives: see `Keys.trim`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.errors import AnswerLost, SupervisorError
from supervisor.core.values.idempotency import EXECUTION_CALLER, KeyClaim, StoredAnswer, digest_of
from supervisor.services.access.idempotency import Idempotency, KeyedRequest
from supervisor.services.steps.verb import Begun

__all__ = ["OncePerEffect"]

log = structlog.get_logger()


@dataclass(frozen=True)
class OncePerEffect:
    """Lets verbs act once; safe from many threads."""

    keys: Idempotency

    @staticmethod
    def digest(verb: str) -> str:
        """Return the digest under which a verb's key is kept."""
        return digest_of(verb.encode())

    def act(self, call: StepCall, begin: Callable[[], Begun], recall: Callable[[], Begun]) -> Begun:
        """Return what a verb did: now, or with the same key before.

        Raises:
            KeyInUse: another attempt with the key is under way.
            SupervisorError: as `begin` and `recall` raise; the key is free again if nothing was
                done.
        """
        request = KeyedRequest(
            f"{EXECUTION_CALLER}{call.execution}",
            f"{call.run}/{call.effect}",
            self.digest(call.verb),
        )
        try:
            claim = self.keys.begin(request)
        except AnswerLost:
            return recall()
        if isinstance(claim, StoredAnswer):
            kept = json.loads(claim.body)
            return Begun(kept["outputs"], kept["waits"])
        try:
            with self.keys.acting_for(claim):
                begun = begin()
        except BaseException:
            self._end(claim, None)
            raise
        body = json.dumps({"outputs": dict(begun.outputs), "waits": begun.waits})
        self._end(claim, StoredAnswer(200, {}, body.encode()))
        return begun

    def _end(self, claim: KeyClaim, answer: StoredAnswer | None) -> None:
        try:
            self.keys.end(claim, answer)
        except SupervisorError as error:
            # What was done is done; a repeat recalls it.
            log.warning("the answer to a step's key is not stored", key=claim.key, why=str(error))
