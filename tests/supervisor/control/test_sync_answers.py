"""Answers to syncs beside commits, other leaders and commits without an answer."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.sync_answers import AGE_MAX_S, UNSURE_S, WORKERS_MAX, SyncAnswers
from supervisor.control.wakeups import Wakeups
from supervisor.core.model.rows import WorkerRow
from supervisor.core.values.errors import LeaseLost
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from supervisor.ports.touched import OnTouched, Touched
from tests.conformance.stories import CLICKS, NOON, Leader, attempt, opening, take_lease
from tests.sqlite_memory import empty_file
from tests.supervisor.core.snapshots import part, spec

LEASE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)


@dataclass
class Interrupted:
    """A store in which something else happens when a look has read its rows."""

    sound: SqlStore
    then: list[Callable[[], None]] = field(default_factory=list)
    looks: int = 0

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self.sound.reading() as tx:
            yield tx
            self.looks += 1
            if self.then:
                self.then.pop()()

    def writing(self) -> object:
        return self.sound.writing()

    def leading(self, term: int) -> object:
        return self.sound.leading(term)

    def on_touched(self, heard: OnTouched) -> None:
        self.sound.on_touched(heard)


@dataclass
class Desk:
    """One leader, with a task of worker w1 that reads, and a worker w2 without tasks."""

    sound: SqlStore
    file: Path

    def __post_init__(self) -> None:
        self.store = Interrupted(self.sound)
        self.clock, self.changed = ManualClock(NOON), Wakeups()
        self.leader = Leader(self.sound, take_lease(self.sound))
        self.answers = SyncAnswers(self.store, self.clock, LEASE, self.changed)  # type: ignore[arg-type]  # enough of a store for it
        with self.leader.writes() as tx:
            tx.specs.append(CLICKS, spec(), NOON, "")
            tx.offsets.initialise(CLICKS, "id", {part(0): 0})
            tx.generations.open(CLICKS, "table", opening("g1", 1, {part(0): 0}), NOON)
            tx.tasks.start(attempt("t1"))
            for name in ("w1", "w2"):
                tx.workers.register(WorkerRow(name, 1, f"http://{name}", 9, NOON))

    def pauses(self) -> None:
        with self.leader.writes() as tx:
            assert tx.generations.begin_handoff("g1", 0, must_end=False, why="due", now=NOON)

    def sequence(self) -> int:
        """Return the number of the order that w1 hears."""
        [task] = self.answers.answer("w1", self.leader.term).tasks
        return task.order.sequence

    def writes_unheard(self, statement: str) -> None:
        """Write as a commit does whose process has heard nothing of it."""
        engine = sa.create_engine(f"sqlite:///{self.file}")
        with engine.begin() as connection:
            connection.execute(sa.text(statement))
        engine.dispose()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    file = empty_file(tmp_path / "metadata.db")
    store = SqlStore(f"sqlite:///{file}", lease_ttl=timedelta(seconds=6))
    yield Desk(store, file)
    store.close()


async def _is_woken(event: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(event.wait(), 0.05)
    except TimeoutError:
        return False
    return True


def test_a_commit_during_a_look_is_in_the_next_answer_and_wakes_the_worker(desk: Desk) -> None:
    """Goal: the look reads the rows, then they change, then the worker begins to wait."""

    async def story() -> None:
        woken, other = desk.changed.subscribe("w1"), desk.changed.subscribe("w2")
        await asyncio.to_thread(desk.answers.answer, "w2", desk.leader.term)
        desk.store.then.append(desk.pauses)

        assert await asyncio.to_thread(desk.sequence) == 0

        assert await _is_woken(woken)
        assert not other.is_set()
        assert desk.sequence() == 1

    asyncio.run(story())


def test_a_wait_that_began_before_the_commit_is_ended_by_it(desk: Desk) -> None:
    async def story() -> None:
        woken, other = desk.changed.subscribe("w1"), desk.changed.subscribe("w2")
        for name in ("w1", "w2"):
            await asyncio.to_thread(desk.answers.answer, name, desk.leader.term)

        await asyncio.to_thread(desk.pauses)

        assert await _is_woken(woken)
        assert not other.is_set()

    asyncio.run(story())


def test_a_worker_whose_answer_is_not_known_is_woken_by_each_commit(desk: Desk) -> None:
    """Goal: whoever may be concerned looks; only those who are known not to be sleep on."""

    async def story() -> None:
        unknown = desk.changed.subscribe("w3")
        await asyncio.to_thread(desk.pauses)
        assert await _is_woken(unknown)

    asyncio.run(story())


def test_two_looks_at_once_leave_the_later_one(desk: Desk) -> None:
    """Goal: a look that began before a commit does not replace one that began after it."""

    def meanwhile() -> None:
        desk.pauses()
        assert desk.sequence() == 1

    desk.store.then.append(meanwhile)
    assert desk.sequence() == 0

    looks = desk.store.looks
    assert desk.sequence() == 1
    assert desk.store.looks == looks + 1, "the answer is known: the term alone is read"


def test_a_commit_of_another_supervisor_leaves_the_answer_known(desk: Desk) -> None:
    before = desk.answers.answer("w1", desk.leader.term)
    with desk.leader.writes() as tx:
        tx.specs.append("other", spec(), NOON, "")
        tx.offsets.initialise("other", "id", {part(0): 0})

    assert desk.answers.answer("w1", desk.leader.term) is before


def test_a_change_that_is_rolled_back_leaves_the_answer_known(desk: Desk) -> None:
    before = desk.answers.answer("w1", desk.leader.term)
    with suppress(RuntimeError), desk.leader.writes() as tx:
        assert tx.generations.begin_handoff("g1", 0, must_end=False, why="due", now=NOON)
        raise RuntimeError

    assert desk.answers.answer("w1", desk.leader.term) is before


def test_a_deposed_leader_answers_nothing_that_it_knows(desk: Desk) -> None:
    """Goal: the process was frozen, another one leads and has changed the rows (P1)."""
    desk.sequence()
    other = SqlStore(f"sqlite:///{desk.file}", lease_ttl=timedelta(seconds=6))
    successor = Leader(other, take_lease(other, "second"))
    with successor.writes() as tx:
        assert tx.generations.begin_handoff("g1", 0, must_end=False, why="due", now=NOON)
    other.close()

    with pytest.raises(LeaseLost) as refused:
        desk.sequence()
    assert refused.value.leader == "http://second:8090"


def test_another_leader_that_comes_while_the_term_is_read_is_seen(desk: Desk) -> None:
    """Goal: the answer is taken before the term is read, so that nothing is later than both."""
    desk.sequence()
    taken: list[str] = []
    usable = desk.answers._usable

    def frozen(worker_id: str, term: int) -> object:
        known = usable(worker_id, term)
        other = SqlStore(f"sqlite:///{desk.file}", lease_ttl=timedelta(seconds=6))
        take_lease(other, "second")
        other.close()
        taken.append(worker_id)
        return known

    desk.answers._usable = frozen  # type: ignore[method-assign, assignment]
    with pytest.raises(LeaseLost):
        desk.sequence()
    assert taken == ["w1"]


def test_a_leader_that_has_released_its_lease_answers_nothing(desk: Desk) -> None:
    desk.sequence()
    with desk.sound.writing() as tx:
        tx.lease.release(desk.leader.term, "first")

    with pytest.raises(LeaseLost):
        desk.sequence()


def test_an_answer_of_an_earlier_term_is_not_used(desk: Desk) -> None:
    """Goal: orders name the term, and a worker follows the highest."""
    desk.sequence()
    term = take_lease(desk.sound, "again")

    answer = desk.answers.answer("w1", term)

    assert (answer.term, answer.tasks[0].order.term) == (term, term)


PAUSED = "UPDATE generations SET state='PAUSING', sequence=1 WHERE id='g1'"


def test_a_commit_that_takes_effect_after_its_error_is_heard_at_the_next_sync(desk: Desk) -> None:
    """Goal: on PostgreSQL, a connection that breaks in a commit leaves its outcome open."""
    assert desk.sequence() == 0
    with pytest.raises(AssertionError, match="no answer"), _without_answer(desk.sound):
        desk.pauses()
    assert desk.sequence() == 0  # looked up before it took effect

    desk.writes_unheard(PAUSED)

    assert desk.sequence() == 1
    desk.clock.advance(UNSURE_S * SECOND)
    looks = desk.store.looks
    assert [desk.sequence(), desk.sequence()] == [1, 1]
    assert desk.store.looks == looks + 2


@contextmanager
def _without_answer(store: SqlStore) -> Iterator[None]:
    """Let commits fail, as far as their process can see."""

    def fails(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ROLLBACK")
        raise sa.exc.InvalidRequestError("no answer")

    sa.event.listen(store._writers, "commit", fails)
    yield
    sa.event.remove(store._writers, "commit", fails)


def test_what_nobody_has_announced_is_seen_after_a_while(desk: Desk) -> None:
    """Goal: nothing stands still for ever, whatever was forgotten or changed by hand."""
    assert desk.sequence() == 0
    desk.writes_unheard(PAUSED)

    desk.clock.advance((AGE_MAX_S - 1) * SECOND)
    assert desk.sequence() == 0
    desk.clock.advance(2 * SECOND)
    assert desk.sequence() == 1


def test_a_part_that_was_looked_up_again_keeps_the_age_of_the_whole(desk: Desk) -> None:
    """Goal: a worker with news each second looks at all of its rows now and then, too."""
    last = desk.sequence()
    assert last == 0
    desk.writes_unheard(PAUSED)
    for _ in range(int(AGE_MAX_S) + 1):
        desk.clock.advance(SECOND)
        with desk.leader.writes() as tx:
            tx.workers.set_disabled("w1", disabled=True)
        last = desk.sequence()

    assert last == 1


def test_answers_of_many_workers_are_bounded(desk: Desk) -> None:
    for number in range(WORKERS_MAX + 5):
        desk.answers.answer(f"x{number}", desk.leader.term)

    assert len(desk.answers._known) == WORKERS_MAX


def test_names_are_added_up() -> None:
    all_names = Touched()
    all_names.add(Touched(supervisors={"a"}, tables={"t"}))
    all_names.add(Touched(workers={"w"}))

    assert (all_names.supervisors, all_names.workers, all_names.tables) == ({"a"}, {"w"}, {"t"})
    assert not Touched()
