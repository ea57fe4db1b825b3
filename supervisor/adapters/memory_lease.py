"""The leadership lease in memory; its states are drawn in `metadata/lease.py`."""

from dataclasses import replace

from supervisor.adapters.memory_rows import Tables
from supervisor.core.errors import LeaseLost
from supervisor.core.model import Lease

_ONLY = "lease"


def require_term(tables: Tables, term: int) -> None:
    """Check that `term` is the present one.

    Raises:
        LeaseLost: another term is the present one, or the lease was released.
    """
    present = tables.lease.get_row(_ONLY)
    if present is not None and present.term == term and present.holder:
        return
    leader = present.url or None if present else None
    now = f"the present term is {present.term}" if present else "nobody has led yet"
    raise LeaseLost(f"term {term} may not write: {now}", leader)


class MemoryLease:
    """See `ports.LeaseTable`."""

    def __init__(self, tables: Tables) -> None:
        self._row = tables.lease

    def read(self) -> Lease | None:
        """Return the lease; None if nobody ever led.  An empty holder has released it."""
        return self._row.get_row(_ONLY)

    def take(self, seen: Lease | None, holder: str, url: str) -> Lease | None:
        """Take over with term + 1 if the lease is still `seen`; None: somebody was faster."""
        assert holder, "an empty holder means: released"
        if self.read() != seen:
            return None
        taken = Lease(1 if seen is None else seen.term + 1, holder, url, 0)
        self._row.put(_ONLY, taken)
        return taken

    def renew(self, term: int, holder: str) -> bool:
        """Count one renewal up; False: the term is not ours any more."""
        held = self._held(term, holder)
        if held is None:
            return False
        self._row.put(_ONLY, replace(held, renewals=held.renewals + 1))
        return True

    def release(self, term: int, holder: str) -> None:
        """Give the lease up on a graceful stop, so that the next candidate need not wait."""
        if held := self._held(term, holder):
            self._row.put(_ONLY, replace(held, holder="", url=""))

    def _held(self, term: int, holder: str) -> Lease | None:
        present = self.read()
        mine = present is not None and (present.term, present.holder) == (term, holder)
        return present if mine else None
