"""The fence of leaders: a row with the highest term that has written executions."""

from sqlalchemy import Connection, update

from supervisor.adapters.executions.schema import WRITER
from supervisor.core.values.errors import LeaseLost

__all__ = ["hold_term"]


def hold_term(connection: Connection, term: int) -> None:
    """Keep every lower term out, from here on; two transactions never interleave.

    Raises:
        LeaseLost: a later term has written.
    """
    # The row is locked until the commit.
    fence = update(WRITER).where(WRITER.c.term <= term).values(term=term)
    if connection.execute(fence).rowcount != 1:
        raise LeaseLost(f"a later term than {term} has written executions")
