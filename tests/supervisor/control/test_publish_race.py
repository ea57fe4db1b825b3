"""Two replicas publish at once on PostgreSQL, where each statement sees what is committed by then.

Found by chaos: the second replica had read that its range is not published, then the offsets as
the first had just moved them; it was judged stale, a state that only a bug or a restored database
should show, and its files were kept for ever.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore, SqlTransaction
from supervisor.ports.queue_events import Heard
from supervisor.ports.store import Transaction
from tasks.contract.messages import PublishOutcome
from tests.supervisor.core.snapshots import TOPIC, spec
from tests.supervisor.scenarios.promises import assert_promises
from tests.supervisor.scenarios.publishers import fix_a_range, task_of
from tests.supervisor.services.supervisors.test_resets import resets
from tests.supervisor.world import World

pytestmark = pytest.mark.pg


class _Meddled:
    """A repository; something happens once, just after one of its methods was asked."""

    def __init__(self, inner: object, method: str, happens: Callable[[], None]) -> None:
        self._inner = inner
        self._method = method
        self._happens = happens

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the repository has
        method = getattr(self._inner, name)
        if name != self._method:
            return method

        def wrapped(*given: object) -> object:
            answer = method(*given)
            self._happens()
            return answer

        return wrapped


class MeddledStore:
    """A store in which something happens once, between two reads of one transaction."""

    def __init__(self, inner: SqlStore) -> None:
        self._inner = inner
        self.after: tuple[str, str] | None = None
        """Repository and method."""
        self.happens: Callable[[], None] = lambda: None

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._inner.reading()

    def writing(self) -> AbstractContextManager[Transaction]:
        return self._inner.writing()

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        return self._leading(term)

    def on_added(self, heard: Heard) -> None:
        self._inner.on_added(heard)

    @contextmanager
    def _leading(self, term: int) -> Iterator[Transaction]:
        with self._inner.leading(term) as tx:
            if self.after is None:
                yield tx
                return
            repository, method = self.after
            meddled = _Meddled(getattr(tx, repository), method, self._once)
            yield replace(cast("SqlTransaction", tx), **{repository: cast("Any", meddled)})

    def _once(self) -> None:
        if self.after is not None:
            self.after = None
            self.happens()


@pytest.fixture
def store(postgresql_database: str) -> Iterator[MeddledStore]:
    """A migrated PostgreSQL."""
    migrate(postgresql_database)
    sql = SqlStore(postgresql_database, lease_ttl=timedelta(seconds=60))
    yield MeddledStore(sql)
    sql.close()


@pytest.mark.parametrize(
    "after",
    [
        ("tasks", "get"),
        ("offsets", "of"),
        ("generations", "get"),
        ("segments", "publication"),
    ],
)
def test_the_second_of_two_replicas_hears_already_published_whenever_the_first_commits(
    store: MeddledStore, after: tuple[str, str]
) -> None:
    """Goal: of two replicas one wins and both succeed, however they interleave (P22, I7)."""
    world = World(store, spec(task_count=1, replicas=2))
    fix_a_range(world)
    (hand, winner), (other, late) = world.ready_to_publish()
    heard = []
    store.happens = lambda: heard.append(world.publish(hand, winner).outcome)
    store.after = after

    assert world.publish(other, late).outcome is PublishOutcome.ALREADY_PUBLISHED

    assert heard == [PublishOutcome.COMMITTED]
    assert task_of(world, late).outcome is PublishOutcome.ALREADY_PUBLISHED
    assert_promises(world.store)


def test_a_reset_during_which_a_publish_commits_looks_again(store: MeddledStore) -> None:
    """Goal: the reset counts from what is committed; nothing is left out of its account."""
    world = World(store, spec(task_count=1))
    fix_a_range(world)
    [(hand, replica)] = world.ready_to_publish()
    end = replica.wanted.order.end
    assert end is not None
    heard = []
    store.happens = lambda: heard.append(world.publish(hand, replica).outcome)
    store.after = ("offsets", "of")

    done = resets(world).reset(TOPIC, "ada")

    assert heard == [PublishOutcome.COMMITTED]
    assert {move.partition: move.start for move in done.moves} == end
    with store.reading() as tx:
        assert {row.next_offset for row in tx.offsets.of(TOPIC).values()} == {0}
        repeated = {(gap.partition, gap.first, gap.end) for gap in tx.offsets.gaps(TOPIC)}
    assert repeated == {(partition, 0, at) for partition, at in end.items()}
