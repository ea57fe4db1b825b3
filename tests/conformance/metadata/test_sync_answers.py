"""The answers to syncs are those that the rows give, and a write wakes the workers concerned.

Goal: no worker runs on with an old list because a write has not said what it touched.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

import pytest

from supervisor.adapters.manual_clock import ManualClock
from supervisor.control.desired_state import desired_state
from supervisor.control.sync_answers import SyncAnswers
from supervisor.control.wakeups import Wakeups
from supervisor.core.model.rows import GenerationState, TaskStatus, WorkerRow
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import StaleCommit, StateMoved
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from tasks.contract.messages import SyncResponse
from tasks.contract.offsets import TopicPartition
from tests.conformance.stories import (
    NOON,
    Leader,
    attempt,
    end_at,
    opening,
    publication,
    segment,
    take_lease,
)
from tests.conformance.tables.test_compaction import compaction
from tests.supervisor.core.snapshots import TOPIC, part, spec

LEASE = timedelta(seconds=60)
SUPERVISORS, WORKERS = ("a", "b", "c"), ("w1", "w2", "w3")
STEPS = 80


class Woken(Wakeups):
    """Notes who was woken since the last look, and wakes nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def notify(self, names: object = None) -> None:
        assert names is None or isinstance(names, list)
        self.names |= set(WORKERS if names is None else names)

    def notify_but(self, names: object) -> None:
        assert isinstance(names, set)
        self.names |= set(WORKERS) - names


@dataclass
class Walk:
    """One leader that changes rows at random, and its answers."""

    database: SqlStore
    random: Random
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOON))
    woken: Woken = field(default_factory=Woken)
    held: dict[str, SyncResponse] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    number: int = 0

    def __post_init__(self) -> None:
        self.leader = Leader(self.database, take_lease(self.database))
        self.answers = SyncAnswers(self.database, self.clock, LEASE, self.woken)
        with self.leader.writes() as tx:
            for name in SUPERVISORS:
                tx.specs.append(name, spec(), NOON, "")
                tx.offsets.initialise(name, "id", {part(0): 0, part(1): 0})
            for name in WORKERS:
                tx.workers.register(WorkerRow(name, 1, f"http://{name}", 9, NOON))
        self.held = {name: self.answers.answer(name, self.leader.term) for name in WORKERS}

    def rows(self, worker: str) -> SyncResponse:
        with self.leader.reads() as tx:
            return desired_state(tx, worker, self.leader.term, LEASE)

    def step(self) -> None:
        """Change something, then compare each answer with the rows."""
        verb = self.random.choice(VERBS)
        self.number += 1
        try:
            with self.leader.writes() as tx:
                verb(self, tx)
        except (StateMoved, StaleCommit):
            return
        for worker in WORKERS:
            present = self.rows(worker)
            if present != self.held[worker]:
                self.done.add(verb.__name__)
                assert worker in self.woken.names, f"{verb.__name__} has not woken {worker}"
            if self.random.random() < 0.7:  # else it syncs later, after several changes
                self.woken.names.discard(worker)
                self.held[worker] = self.answers.answer(worker, self.leader.term)
                assert self.held[worker] == present, verb.__name__

    # -- changes ---------------------------------------------------------------------------------

    def _live(self, tx: Transaction) -> str:
        live = tx.generations.live()
        if not live:
            raise StateMoved("no range is live")
        return self.random.choice(live).id

    def opens(self, tx: Transaction) -> None:
        name, number = self.random.choice(SUPERVISORS), self.random.choice((0, 1))
        at = tx.offsets.of(name)[part(number)].next_offset
        action = opening(f"{name} {self.number}", self.number, {part(number): at})
        version = tx.specs.heads()[SUPERVISORS.index(name)].version
        tx.generations.open(name, "table", replace(action, spec_version=version), NOON)

    def starts(self, tx: Transaction) -> None:
        generation = tx.generations.get(self._live(tx))
        assert generation is not None
        task = attempt(f"t{self.number}", generation.id, self.random.choice((0, 1)), self.number)
        worker = self.random.choice(WORKERS)
        tx.tasks.start(replace(task, supervisor_id=generation.supervisor_id, worker_id=worker))

    def ends(self, tx: Transaction) -> None:
        if active := tx.tasks.active():
            tx.tasks.end(self.random.choice(active).id, TaskStatus.FAILED, "killed", NOON)

    def pauses(self, tx: Transaction) -> None:
        wanted = self._live(tx)
        generation = tx.generations.get(wanted)
        assert generation is not None
        tx.generations.begin_handoff(
            wanted, generation.sequence, must_end=False, why="a story", now=NOON
        )

    def resumes(self, tx: Transaction) -> None:
        wanted = self._live(tx)
        generation = tx.generations.get(wanted)
        assert generation is not None
        tx.generations.resume(wanted, generation.sequence, restart_timer=True, now=NOON)

    def fixes_an_end(self, tx: Transaction) -> None:
        generation = tx.generations.get(self._live(tx))
        assert generation is not None
        end = {p: at + 5 for p, at in generation.start.items()}
        tx.generations.fix_end(end_at(generation.id, generation.sequence, end), NOON)

    def closes(self, tx: Transaction) -> None:
        tx.generations.close(self._live(tx), GenerationState.DISCARDED, NOON)

    def commits(self, tx: Transaction) -> None:
        generation = tx.generations.get(self._live(tx))
        assert generation is not None
        if generation.end is not None:
            ids = {TOPIC: "id"}
            name, epochs = generation.supervisor_id, generation.reset_epochs
            tx.offsets.advance(name, generation.start, generation.end, ids, epochs)

    def resets(self, tx: Transaction) -> None:
        name = self.random.choice(SUPERVISORS)
        now = {p: row.next_offset for p, row in tx.offsets.of(name).items()}
        to: dict[TopicPartition, int] = {part(0): self.random.randrange(3)}
        tx.offsets.reset(name, to, {TOPIC: self.random.choice(("id", "id 2"))}, now)

    def stores_a_spec(self, tx: Transaction) -> None:
        tx.specs.append(self.random.choice(SUPERVISORS), spec(), NOON, "")

    def takes_up(self, tx: Transaction) -> None:
        worker = self.random.choice(WORKERS)
        mine = {task.id: f"token {self.number}" for task in tx.tasks.active(worker_id=worker)}
        tx.workers.register(WorkerRow(worker, self.number + 1, "http://w", 9, NOON))
        tx.tasks.take_up(worker, self.number + 1, mine)

    def disables(self, tx: Transaction) -> None:
        tx.workers.set_disabled(self.random.choice(WORKERS), disabled=self.random.random() < 0.5)

    def publishes_files(self, tx: Transaction) -> None:
        generation = tx.generations.get(self._live(tx))
        assert generation is not None
        tasks = tx.tasks.of_generations([generation.id])
        if tasks and tx.segments.publication(generation.id) is None:
            new = (segment(f"f{self.number}", NOON, generation.id, tasks[0].id),)
            tx.segments.add(publication(generation.id, tasks[0].id), new)

    def begins_a_compaction(self, tx: Transaction) -> None:
        used = [one.id for one in tx.segments.of_data_source("table") if one.used]
        if used:
            inputs = tuple(self.random.sample(used, k=1))
            row = replace(compaction(f"c{self.number}"), inputs=inputs, supervisor_id="a")
            tx.compactions.add(row)
            worker = self.random.choice(WORKERS)
            tx.compactions.assign(row.id, worker, 1, "token", NOON)

    def ends_a_compaction(self, tx: Transaction) -> None:
        if live := tx.compactions.live():
            tx.compactions.end(self.random.choice(live).id, TaskStatus.FAILED, "why", NOON)

    def takes_files_out(self, tx: Transaction) -> None:
        used = [one.id for one in tx.segments.of_data_source("table") if one.used]
        tx.segments.mark_unused(used[:1], NOON)

    def puts_files_back(self, tx: Transaction) -> None:
        out = [one.id for one in tx.segments.of_data_source("table") if not one.used]
        tx.segments.mark_used(out[:1])


VERBS: tuple[Callable[[Walk, Transaction], None], ...] = (
    *(Walk.opens, Walk.opens, Walk.starts, Walk.starts, Walk.starts, Walk.ends),
    *(Walk.pauses, Walk.resumes, Walk.fixes_an_end, Walk.closes, Walk.commits, Walk.resets),
    *(Walk.stores_a_spec, Walk.takes_up, Walk.disables, Walk.publishes_files),
    *(Walk.begins_a_compaction, Walk.ends_a_compaction, Walk.takes_files_out),
    Walk.puts_files_back,
)


@pytest.mark.parametrize("seed", range(2))
def test_an_answer_is_what_the_rows_say_after_each_change(database: SqlStore, seed: int) -> None:
    walk = Walk(database, Random(seed))

    for _ in range(STEPS):
        walk.step()

    assert len(walk.done) >= 5, f"only {walk.done} changed an answer"


def test_a_change_of_one_supervisor_wakes_no_worker_of_others(database: SqlStore) -> None:
    """Goal: a thousand supervisors on fifty workers: a handoff of one is no news to all."""
    walk = Walk(database, Random(0))
    start = {part(0): 0}
    with walk.leader.writes() as tx:
        for name, worker in zip(SUPERVISORS, WORKERS, strict=True):
            tx.generations.open(name, "table", opening(f"g {name}", 1, start), NOON)
            task = attempt(f"t {name}", f"g {name}")
            tx.tasks.start(replace(task, supervisor_id=name, worker_id=worker))
    for worker in WORKERS:
        walk.answers.answer(worker, walk.leader.term)
    walk.woken.names.clear()

    with walk.leader.writes() as tx:
        assert tx.generations.begin_handoff("g b", 0, must_end=False, why="due", now=NOON)

    assert walk.woken.names == {"w2"}


def test_a_share_of_an_untouched_supervisor_is_not_read_again(database: SqlStore) -> None:
    """Goal: news of one of eighty tasks cost the rows of one supervisor."""
    walk = Walk(database, Random(0))
    wanted: list[SupervisorSpec] = [spec()] * 30
    with walk.leader.writes() as tx:
        for number, one in enumerate(wanted):
            tx.specs.append(f"s{number}", one, NOON, "")
            tx.offsets.initialise(f"s{number}", "id", {part(n): 0 for n in range(9)})
            action = opening(f"g{number}", 1, {part(n): 0 for n in range(9)})
            tx.generations.open(f"s{number}", "table", action, NOON)
            tx.tasks.start(replace(attempt(f"t{number}", f"g{number}"), supervisor_id=f"s{number}"))
    before = walk.answers.answer("w1", walk.leader.term)

    with walk.leader.writes() as tx:
        assert tx.generations.begin_handoff("g7", 0, must_end=False, why="due", now=NOON)
    after = walk.answers.answer("w1", walk.leader.term)

    same = {id(task) for task in before.tasks} & {id(task) for task in after.tasks}
    assert (len(after.tasks), len(same)) == (30, 29)
    assert after == walk.rows("w1")
