"""The repository of the leadership lease: the leader's term and its renewals.

nobody ── take ──► held (term 1) ── take, after a silence ──► held (term 2) ...
│  ▲
release │  │ take (term + 1)
▼  │
released: the term row stays, its holder is empty
"""

from sqlalchemy import Connection, bindparam, select, update

from supervisor.core.model.rows import Lease
from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.metadata.schema.tables import leader_renewal, leader_term

_ONLY = 1
RELEASED = ""

_TERM, _RENEWAL = leader_term.c, leader_renewal.c
# Built once: these queries run in each transaction, or every few seconds.
_HELD = (
    select(_TERM.term)
    .where(_TERM.term == bindparam("mine"), _TERM.holder != RELEASED)
    .with_for_update(read=True)
)
_LEASE = select(_TERM.term, _TERM.holder, _TERM.url, _RENEWAL.renewals).join(
    leader_renewal, _TERM.id == _RENEWAL.id
)
_RENEW = (
    update(leader_renewal)
    .where(_RENEWAL.term == bindparam("mine"), _RENEWAL.holder == bindparam("me"))
    .values(renewals=_RENEWAL.renewals + 1)
    .returning(_RENEWAL.id)
)


def require_term(connection: Connection, term: int) -> None:
    """Read the term row with a share lock: nobody can take over before this transaction ends (P1).

    Raises:
        LeaseLost: `term` is not the present one, or the lease was released.
    """
    if connection.execute(_HELD, {"mine": term}).one_or_none() is not None:
        return
    present = connection.execute(select(_TERM.term, _TERM.url)).one_or_none()
    leader = present.url or None if present else None
    now = f"the present term is {present.term}" if present else "nobody has led yet"
    raise LeaseLost(f"term {term} may not write: {now}", leader)


class SqlLease:
    """See `ports.store.LeaseTable`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def read(self) -> Lease | None:
        """Return the lease; None if nobody ever led.  An empty holder: the lease was released."""
        row = self._db.execute(_LEASE).one_or_none()
        return None if row is None else Lease(row.term, row.holder, row.url, row.renewals)

    def take(self, seen: Lease | None, holder: str, url: str) -> Lease | None:
        """Take over with term + 1 if the lease is still `seen`; None: another was faster."""
        assert holder, "an empty holder means: released"
        if seen is None:
            return self._first_term(Lease(1, holder, url, 0))
        taken = Lease(seen.term + 1, holder, url, 0)
        # The renewal row first: a holder about to renew waits for it, and then learns of its loss.
        renewal = leader_renewal.c
        moved = self._db.execute(
            update(leader_renewal)
            .where(renewal.term == seen.term, renewal.renewals == seen.renewals)
            .where(renewal.holder == seen.holder)
            .values(term=taken.term, holder=holder, renewals=0)
            .returning(renewal.id)
        ).one_or_none()
        if moved is None:
            return None
        # This update waits for transactions of the old leader that hold a share lock on the term
        # row: they may still commit.  Only the process that moved the renewal row comes this far,
        # so the update finds its row.
        self._db.execute(
            update(leader_term)
            .where(leader_term.c.term == seen.term)
            .values(term=taken.term, holder=holder, url=url)
            .returning(leader_term.c.id)
        ).one()
        return taken

    def renew(self, term: int, holder: str) -> bool:
        """Add one to the renewals; False: the lease no longer has this term and holder."""
        renewed = self._db.execute(_RENEW, {"mine": term, "me": holder}).one_or_none()
        return renewed is not None

    def release(self, term: int, holder: str) -> None:
        """Release the lease on a graceful stop, so that the next candidate need not wait."""
        for table in (leader_renewal, leader_term):  # the order of `take`: no deadlock
            self._db.execute(
                update(table)
                .where(table.c.term == term, table.c.holder == holder)
                .values(holder=RELEASED)
            )
        self._db.execute(
            update(leader_term)
            .where(leader_term.c.term == term, leader_term.c.holder == RELEASED)
            .values(url="")
        )

    def _first_term(self, lease: Lease) -> Lease | None:
        row = {"id": _ONLY, "term": lease.term, "holder": lease.holder}
        first = insert_unless_taken(
            self._db,
            (leader_renewal, [row | {"renewals": lease.renewals}]),
            (leader_term, [row | {"url": lease.url}]),
        )
        return lease if first else None
