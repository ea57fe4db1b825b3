"""The leadership lease: who may write, and whether it still lives.

nobody ── take ──► held (term 1) ── take, after a silence ──► held (term 2) ...
│  ▲
release │  │ take (term + 1)
▼  │
released: the term row stands, its holder is empty
"""

from sqlalchemy import Connection, bindparam, select, update

from supervisor.core.model.rows import Lease
from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.metadata.schema.tables import leader_renewal, leader_term

_ONLY = 1
RELEASED = ""

_TERM, _RENEWAL = leader_term.c, leader_renewal.c
# Built once: these are asked in each transaction, or every few seconds.
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
    """Read the term row with a share lock, so that nobody takes over before we commit (P1).

    Raises:
        LeaseLost: another term is the present one, or the lease was released.
    """
    if connection.execute(_HELD, {"mine": term}).one_or_none() is not None:
        return
    present = connection.execute(select(_TERM.term, _TERM.url)).one_or_none()
    leader = present.url or None if present else None
    now = f"the present term is {present.term}" if present else "nobody has led yet"
    raise LeaseLost(f"term {term} may not write: {now}", leader)


class SqlLease:
    """See `ports.LeaseTable`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def read(self) -> Lease | None:
        """Return the lease; None if nobody ever led.  An empty holder has released it."""
        row = self._db.execute(_LEASE).one_or_none()
        return None if row is None else Lease(row.term, row.holder, row.url, row.renewals)

    def take(self, seen: Lease | None, holder: str, url: str) -> Lease | None:
        """Take over with term + 1 if the lease is still `seen`; None: somebody was faster."""
        assert holder, "an empty holder means: released"
        if seen is None:
            return self._first_term(Lease(1, holder, url, 0))
        taken = Lease(seen.term + 1, holder, url, 0)
        # The renewal first: a holder that is about to renew waits here, and is told that it lost.
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
        # Waits for transactions of the old leader that have read the row: they may still commit.
        # Whoever moved the renewal row is alone here, so this finds its row.
        self._db.execute(
            update(leader_term)
            .where(leader_term.c.term == seen.term)
            .values(term=taken.term, holder=holder, url=url)
            .returning(leader_term.c.id)
        ).one()
        return taken

    def renew(self, term: int, holder: str) -> bool:
        """Count one renewal up; False: the term is not ours any more."""
        renewed = self._db.execute(_RENEW, {"mine": term, "me": holder}).one_or_none()
        return renewed is not None

    def release(self, term: int, holder: str) -> None:
        """Give the lease up on a graceful stop, so that the next candidate need not wait."""
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
