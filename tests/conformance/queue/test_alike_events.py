"""Whatever is called, event queues keep count, and are alike on SQLite and PostgreSQL.

Slow: random stories of events happen in both databases.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from supervisor.core.queue.events import QueueName, QueueRow, damage_of
from supervisor.core.values.errors import SupervisorError
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tests.conformance.queue.queue_stories import CONFIG, OTHER, QUEUE, SIZE, aside, event
from tests.conformance.stories import LEASE_TTL, NOON, Leader, take_lease
from tests.environment.postgres import Server
from tests.sqlite_memory import SqliteInMemory

Answer = object
Call = Callable[[Transaction], Answer]

_CONFIG = replace(CONFIG, max_outstanding_bytes=4 * SIZE, segment_rollover_bytes=2 * SIZE)
_queues = st.sampled_from([QUEUE, OTHER])
_adds = st.lists(st.tuples(_queues, st.sampled_from("abc"), st.booleans()), min_size=1, max_size=4)
_numbers = st.integers(0, 6)


class _Rollback(Exception):
    """Ends a block that is not to be kept."""


class Queues(RuleBasedStateMachine):
    """Whatever is called, in whatever order: one answer, one state, and it is sound."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.leaders: list[Leader] = []
        self.heard: list[list[Answer]] = []
        self.also_on(SqliteInMemory())

    def also_on(self, store: SqlStore) -> None:
        """Call the same there."""
        self.leaders.append(Leader(store, take_lease(store)))
        self.heard.append([])
        store.on_added(self.heard[-1].append)

    def teardown(self) -> None:
        self.opened.close()

    @rule(adds=_adds, keep=st.booleans())
    def add(self, adds: list[tuple[QueueName, str, bool]], *, keep: bool) -> None:
        def call(tx: Transaction) -> Answer:
            answers: list[Answer] = []
            for queue, key, exempt in adds:
                try:
                    answer = tx.events.add(queue, event(key), _CONFIG, NOON, exempt=exempt)
                    answers.append(answer)
                except SupervisorError as error:
                    answers.append(str(error))
            if not keep:
                raise _Rollback
            return answers

        self._both(call)

    @rule(queue=_queues, count=_numbers, stale=st.booleans())
    def advance(self, queue: QueueName, count: int, *, stale: bool) -> None:
        def call(tx: Transaction, row: QueueRow) -> None:
            done = tx.events.read(row.id, row.processed_seq, count)
            size = row.processed_bytes + sum(each.size_bytes for each in done)
            expected = replace(row, processed_seq=row.processed_seq - stale)
            tx.events.advance(expected, row.processed_seq + len(done), size)

        self._on(queue, call)

    @rule(queue=_queues)
    def record_failure(self, queue: QueueName) -> None:
        self._on(queue, lambda tx, row: tx.events.record_failure(row, "why"))

    @rule(queue=_queues, up_to=_numbers)
    def truncate(self, queue: QueueName, up_to: int) -> None:
        self._on(queue, lambda tx, row: tx.events.truncate(row, up_to))

    @rule(queue=_queues, seq=_numbers)
    def set_aside(self, queue: QueueName, seq: int) -> None:
        self._on(queue, lambda tx, row: tx.events.set_aside(aside(seq, row.queue)))

    @rule(queue=_queues, seq=_numbers)
    def drop_failed(self, queue: QueueName, seq: int) -> None:
        self._on(queue, lambda tx, row: tx.events.drop_failed(row.queue, seq))

    @rule(queue=_queues, seq=_numbers)
    def declare_dead(self, queue: QueueName, seq: int) -> None:
        self._on(queue, lambda tx, row: tx.events.declare_dead(row, seq, f"why {seq}"))

    @rule(queue=_queues)
    def rebuild(self, queue: QueueName) -> None:
        self._on(queue, lambda tx, row: tx.events.rebuild(row.queue))

    @invariant()
    def everything_is_read_alike(self) -> None:
        first, *others = [self._state(leader) for leader in self.leaders]
        assert all(other == first for other in others), [first, *others]
        assert all(heard == self.heard[0] for heard in self.heard), self.heard

    @invariant()
    def every_queue_is_sound(self) -> None:
        with self.leaders[0].reads() as tx:
            for row in tx.events.all():
                read = tx.events.read(row.id, row.processed_seq, 100)
                assert damage_of(row, read) is None
                assert row.outstanding_bytes == sum(each.size_bytes for each in read)

    def _on(self, queue: QueueName, call: Callable[[Transaction, QueueRow], Answer]) -> None:
        def on_its_row(tx: Transaction) -> Answer:
            row = tx.events.find(queue)
            return None if row is None else call(tx, row)

        self._both(on_its_row)

    def _both(self, call: Call) -> None:
        first, *others = [self._answer(leader, call) for leader in self.leaders]
        assert all(other == first for other in others), [first, *others]

    def _answer(self, leader: Leader, call: Call) -> Answer:
        try:
            with leader.writes() as tx:
                return call(tx)
        except (SupervisorError, _Rollback) as error:
            return type(error)

    def _state(self, leader: Leader) -> list[Answer]:
        with leader.reads() as tx:
            rows = [replace(row, id=0) for row in tx.events.all()]  # numbers may have gaps
            return [
                rows,
                [replace(each.row, id=0) for each in tx.events.waiting()],
                [replace(row, id=0) for row in tx.events.dead()],
                [tx.events.read(row.id, -1, 100) for row in tx.events.all()],
                [tx.events.segments_left()],
                tx.events.failed(None, 100),
                [tx.events.failed_counts()],
                [tx.events.outstanding_keys(queue) for queue in (QUEUE, OTHER)],
            ]


BOUNDED = settings(
    max_examples=max(20, settings().max_examples // 3),
    stateful_step_count=15,  # each step is a transaction
)


def test_queues_never_lose_count() -> None:
    run_state_machine_as_test(Queues, settings=BOUNDED)


@pytest.mark.pg
def test_sqlite_and_postgresql_answer_alike(postgres_server: Server, empty_postgres: str) -> None:
    class OnBoth(Queues):
        def __init__(self) -> None:
            super().__init__()
            url = self.opened.enter_context(postgres_server.database(empty_postgres))
            postgresql = SqlStore(url, lease_ttl=LEASE_TTL)
            self.opened.callback(postgresql.close)
            self.also_on(postgresql)

    run_state_machine_as_test(OnBoth, settings=BOUNDED)
