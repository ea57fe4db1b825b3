"""SQLite and PostgreSQL answer every sequence of calls alike."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from supervisor.core.model.rows import GenerationState, TaskStatus
from supervisor.core.values.errors import SupervisorError
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tasks.contract.offsets import Offsets, OffsetsError
from tests.conformance.stories import (
    CLICKS,
    LEASE_TTL,
    NOON,
    P0,
    P1,
    P2,
    Leader,
    attempt,
    end_at,
    opening,
    take_lease,
)
from tests.environment.postgres import Server
from tests.sqlite_memory import SqliteInMemory

Answer = object
Call = Callable[[Transaction], Answer]

_offsets = st.dictionaries(st.sampled_from([P0, P1, P2]), st.integers(0, 3), min_size=1)
_generations = st.integers(1, 5).map(lambda number: f"g{number}")
_tasks = st.integers(1, 6).map(lambda number: f"t{number}")
_sequences = st.integers(0, 3)
_minutes = st.integers(0, 60).map(lambda n: NOON + timedelta(minutes=n))
_ended = st.sampled_from(
    [GenerationState.EMPTY, GenerationState.DISCARDED, GenerationState.PUBLISHED]
)
_topic_ids = st.sampled_from([{"topic": "one"}, {"topic": "two"}])


class _Rollback(Exception):
    """Ends a block that is not to be kept."""


class Alike(RuleBasedStateMachine):
    """Whatever is called, in whatever order: one answer, and one state of the tables."""

    def __init__(self, server: Server, empty: str) -> None:
        super().__init__()
        self.opened = ExitStack()
        url = self.opened.enter_context(server.database(empty))
        postgresql = SqlStore(url, lease_ttl=LEASE_TTL)
        self.opened.callback(postgresql.close)
        self.leaders = [Leader(s, take_lease(s)) for s in (SqliteInMemory(), postgresql)]

    def teardown(self) -> None:
        self.opened.close()

    @initialize(start=_offsets)
    def a_generation_is_open(self, start: Offsets) -> None:
        self._both(lambda tx: tx.generations.open(CLICKS, "t", opening("g1", 1, start), NOON))

    @rule(offsets=_offsets, ids=_topic_ids)
    def initialise(self, offsets: Offsets, ids: dict[str, str]) -> None:
        self._both(lambda tx: tx.offsets.initialise(CLICKS, ids["topic"], offsets))

    @rule(start=_offsets, end=_offsets, ids=_topic_ids)
    def advance(self, start: Offsets, end: Offsets, ids: dict[str, str]) -> None:
        self._both(lambda tx: tx.offsets.advance(CLICKS, start, end, ids))

    @rule(generation_id=_generations, ordinal=st.integers(1, 9), start=_offsets, now=_minutes)
    def open(self, generation_id: str, ordinal: int, start: Offsets, now: datetime) -> None:
        action = opening(generation_id, ordinal, start)
        self._both(lambda tx: tx.generations.open(CLICKS, "t", action, now))

    @rule(generation_id=_generations, sequence=_sequences, must_end=st.booleans())
    def begin_handoff(self, generation_id: str, sequence: int, *, must_end: bool) -> None:
        self._both(
            lambda tx: tx.generations.begin_handoff(
                generation_id, sequence, must_end=must_end, why="why", now=NOON
            )
        )

    @rule(generation_id=_generations, sequence=_sequences, restart_timer=st.booleans())
    def resume(self, generation_id: str, sequence: int, *, restart_timer: bool) -> None:
        later = NOON + timedelta(hours=1)
        self._both(
            lambda tx: tx.generations.resume(
                generation_id, sequence, restart_timer=restart_timer, now=later
            )
        )

    @rule(generation_id=_generations, sequence=_sequences, end=_offsets)
    def fix_end(self, generation_id: str, sequence: int, end: Offsets) -> None:
        self._both(lambda tx: tx.generations.fix_end(end_at(generation_id, sequence, end), NOON))

    @rule(generation_id=_generations, now=_minutes)
    def finished(self, generation_id: str, now: datetime) -> None:
        self._both(lambda tx: tx.generations.finished(generation_id, now))

    @rule(generation_id=_generations, state=_ended)
    def close(self, generation_id: str, state: GenerationState) -> None:
        self._both(lambda tx: tx.generations.close(generation_id, state, NOON))

    @rule(task_id=_tasks, replica=st.integers(0, 1), number=st.integers(0, 2))
    def start(self, task_id: str, replica: int, number: int) -> None:
        self._both(lambda tx: tx.tasks.start(attempt(task_id, "g1", replica, number)))

    @rule(
        task_id=_tasks,
        status=st.sampled_from([TaskStatus.SUCCESS, TaskStatus.FAILED]),
        now=_minutes,
    )
    def end(self, task_id: str, status: TaskStatus, now: datetime) -> None:
        self._both(lambda tx: tx.tasks.end(task_id, status, "why", now))

    @rule(offsets=_offsets)
    def roll_back(self, offsets: Offsets) -> None:
        def call(tx: Transaction) -> Answer:
            tx.offsets.initialise(CLICKS, "one", offsets)
            tx.generations.close("g1", GenerationState.DISCARDED, NOON)
            raise _Rollback

        self._both(call)

    @invariant()
    def everything_is_read_alike(self) -> None:
        sqlite, postgresql = (self._state(leader) for leader in self.leaders)
        assert sqlite == postgresql

    def _both(self, call: Call) -> None:
        sqlite, postgresql = (self._answer(leader, call) for leader in self.leaders)
        assert sqlite == postgresql

    def _answer(self, leader: Leader, call: Call) -> Answer:
        try:
            with leader.writes() as tx:
                return call(tx)
        except (SupervisorError, OffsetsError, _Rollback) as error:
            return type(error)

    def _state(self, leader: Leader) -> list[Answer]:
        ids = [f"g{number}" for number in range(1, 6)]
        with leader.reads() as tx:
            live = tx.generations.live(CLICKS)
            return [
                live,
                [tx.generations.predecessors(one) for one in live],
                tx.generations.newest(CLICKS),
                tx.generations.recent(CLICKS, 9),
                tx.offsets.of(CLICKS),
                tx.tasks.of_generations(ids),
                tx.tasks.of_generations(ids, active=True),
                tx.tasks.active(),
                tx.tasks.slots_in_use(),
                tx.tasks.rows_of(["t1", "t2", "never"]),
                tx.tasks.failures_in_a_row(CLICKS),
                tx.tasks.last_ended(CLICKS, 5),
                tx.generations.page(CLICKS, 3),
                tx.generations.page(CLICKS, 9, before=5),
                tx.happenings.after(0, 1_000),
            ]


@pytest.mark.pg
def test_sqlite_and_postgresql_answer_alike(postgres_server: Server, empty_postgres: str) -> None:
    class OnThisServer(Alike):
        def __init__(self) -> None:
            super().__init__(postgres_server, empty_postgres)

    bounded = settings(
        max_examples=max(20, settings().max_examples // 3),
        stateful_step_count=15,  # each step is a transaction on a disk
    )
    run_state_machine_as_test(OnThisServer, settings=bounded)
