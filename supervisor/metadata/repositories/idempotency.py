"""The repository of idempotency keys and their stored answers."""

from datetime import datetime

from sqlalchemy import Connection, and_, delete, false, func, not_, or_, select, true, update

from supervisor.core.values.idempotency import EXECUTION_CALLER, KeyClaim, KeyRow, StoredAnswer
from supervisor.metadata.schema.idempotency import request_keys
from supervisor.metadata.schema.rows import insert_unless_taken

_AT = request_keys.c
KEPT = 100_000
"""Keys that are kept; the oldest are deleted first."""
KEPT_OF_ONE = 5_000
"""Keys of one caller that are kept."""
_TRIMMED_AT_ONCE = 1_000
_OF_EXECUTION = _AT.caller.startswith(EXECUTION_CALLER, autoescape=True)


class SqlKeys:
    """See `ports.idempotency.Keys`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def find(self, caller: str, key: str) -> KeyRow | None:
        """Return the stored claim and answer of a key."""
        row = self._db.execute(
            select(request_keys).where(_AT.caller == caller, _AT.key == key)
        ).one_or_none()
        if row is None:
            return None
        claim = KeyClaim(row.claim, row.caller, row.key, row.digest, row.term, row.claimed_at)
        answered = row.status is not None
        answer = StoredAnswer(row.status, row.headers, row.body) if answered else None
        return KeyRow(claim, row.acted, answer)

    def take(self, claim: KeyClaim, over: str | None) -> bool:
        """Store a claim in the place of `over`, or as a new row; False: another was faster."""
        values = {
            "caller": claim.caller,
            "key": claim.key,
            "digest": claim.digest,
            "claim": claim.id,
            "term": claim.term,
            "claimed_at": claim.claimed_at,
            "acted": False,
        }
        if over is None:
            return insert_unless_taken(self._db, (request_keys, [values]))
        taken = self._db.execute(
            update(request_keys)
            .where(_AT.claim == over, _AT.acted == false(), _AT.status.is_(None))
            .values(**values)
            .returning(_AT.number)
        ).one_or_none()
        return taken is not None

    def act(self, claim_id: str) -> bool:
        """Record that the claim acts; False: the claim no longer holds its key."""
        mine = self._db.execute(
            update(request_keys)
            .where(_AT.claim == claim_id)
            .values(acted=true())
            .returning(_AT.number)
        ).one_or_none()
        return mine is not None

    def answer(self, claim_id: str, answer: StoredAnswer) -> None:
        """Store the answer, if the claim still holds its key."""
        self._db.execute(
            update(request_keys)
            .where(_AT.claim == claim_id)
            .values(status=answer.status, headers=dict(answer.headers), body=answer.body)
        )

    def release(self, claim_id: str) -> None:
        """Delete the key, unless the claim has acted."""
        self._db.execute(delete(request_keys).where(_AT.claim == claim_id, _AT.acted == false()))

    def trim(self, before: datetime, caller: str) -> None:
        """Delete a batch of keys that are older than `before`, or too many, of all or of a caller.

        So no caller fills the database, or takes the keys of the others away.  Keys of executions
        are left alone: `forget` deletes them.
        """
        newest = select(func.max(_AT.number)).scalar_subquery()
        old = (
            select(_AT.number)
            .where(or_(_AT.claimed_at < before, _AT.number <= newest - KEPT), not_(_OF_EXECUTION))
            .order_by(_AT.number)
        )
        beyond = (
            select(_AT.number)
            .where(_AT.caller == caller, not_(_OF_EXECUTION))
            .order_by(_AT.number.desc())
            .offset(KEPT_OF_ONE)
        )
        for numbers in (old, beyond):
            # Another transaction trims the locked rows: to wait for them could end in a deadlock.
            some = numbers.limit(_TRIMMED_AT_ONCE).with_for_update(skip_locked=True)
            self._db.execute(delete(request_keys).where(_AT.number.in_(some)))

    def executions(self, before: datetime, after: str, limit: int) -> list[str]:
        """Return ids of executions that have keys older than `before`, in order behind `after`."""
        first = EXECUTION_CALLER + after
        rows = self._db.execute(
            select(_AT.caller)
            .where(and_(_OF_EXECUTION, _AT.caller > first), _AT.claimed_at < before)
            .distinct()
            .order_by(_AT.caller)
            .limit(limit)
        )
        return [row.caller.removeprefix(EXECUTION_CALLER) for row in rows]

    def forget(self, execution: str) -> None:
        """Delete the keys of an execution."""
        self._db.execute(delete(request_keys).where(_AT.caller == EXECUTION_CALLER + execution))
