"""Waits of the product that no setting makes shorter, made shorter for runs of some minutes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from supervisor.core.tables import compaction

COMPACTION_S = 30
"""After so long a compaction is given up; the product's are given six hours."""


@contextmanager
def shorter_waits() -> Iterator[None]:
    """Let stuck compactions be given up within a run."""
    names = vars(compaction)
    before = names["LASTS_AT_MOST"]
    names["LASTS_AT_MOST"] = timedelta(seconds=COMPACTION_S)
    try:
        yield
    finally:
        names["LASTS_AT_MOST"] = before
