"""The publisher of a chaos run goes on after a leader that died in the middle of a publish."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from tests.chaos.publishes.publishing import TABLE, PublishingTable
from tests.conformance.stories import take_lease


class _LostAt:
    """A term that is lost at one of the times that it is wanted."""

    def __init__(self, term: int, at: int) -> None:
        self._term, self._at = term, at
        self.wanted = 0

    def term(self) -> int:
        self.wanted += 1
        if self.wanted == self._at:
            raise LeaseLost("another overlord leads")
        return self._term


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    """An empty metadata database."""
    url = f"sqlite:///{tmp_path}/metadata.db"
    migrate(url)
    store = SqlStore(url, lease_ttl=timedelta(hours=1))
    yield store
    store.close()


@pytest.mark.parametrize("at", range(1, 9))
def test_a_range_that_lost_its_leader_is_published_before_the_next_one(
    store: SqlStore, at: int
) -> None:
    """Case: a run did not end, since each later range waited for one that nobody published."""
    leads = _LostAt(take_lease(store, "o1"), at)
    table = PublishingTable(store, leads=leads)

    done = [table.publish() for _ in range(6)]

    assert leads.wanted >= at
    assert done.count(False) == 1
    with store.reading() as tx:
        [offset] = tx.offsets.of(TABLE).values()
    assert offset.next_offset == 10 * done.count(True)
