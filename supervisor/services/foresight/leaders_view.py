"""What a dry run looks at: one view of the rows, of the term that this overlord leads in.

    term, by my clock ──► view ──► its term row: still mine? ──► … ──► term, once more ──► answer
        └ silent for too long        └ another one leads                 └ it changed meanwhile

A deposed leader that does not know it yet would else show what its workers told it long ago, with a
digest.  A view is not a lock: another overlord may lead by the time at which the answer arrives, as
with each act that is committed.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from supervisor.control.leadership import Leadership
from supervisor.core.values.errors import LeaseLost
from supervisor.ports.store import Store, Transaction


@contextmanager
def leaders_view(store: Store, leadership: Leadership) -> Iterator[Transaction]:
    """Give a view of the rows in which this overlord leads, as it does at the end of the block.

    What the block has worked out counts only once it is left.

    Raises:
        LeaseLost: another overlord leads, or none does; this one steps down, as by a refused write.
    """
    term = leadership.term()
    with store.reading() as tx:
        lease = tx.lease.read()  # first: the view begins here
        if lease is None or lease.term != term or not lease.holder:
            leadership.deposed(term)
            present = "no overlord leads" if lease is None else f"the present term is {lease.term}"
            raise LeaseLost(
                f"term {term} shows nothing any more: {present}",
                None if lease is None or not lease.holder else lease.url or None,
            )
        yield tx
    if leadership.term() != term:
        raise LeaseLost("another term began while this was looked at", leadership.leader_url())
