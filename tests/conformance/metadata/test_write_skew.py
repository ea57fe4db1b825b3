"""Every kind of leader's write is refused when another term begins between its read and its commit.

A single thread on SQLite cannot show write skew: this is PostgreSQL (P26).
Source: P1, I5, D2.

Slow: every row is read before and after each write of a leader that was deposed before.
"""

import typing
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from supervisor.adapters.tables.memory_warehouse import MemoryWarehouse
from supervisor.chores.expiry import EndOfHistory
from supervisor.chores.exports import CompareAll, Exporting
from supervisor.chores.forget import Forgetting, SupervisorGone
from supervisor.chores.retention import RetentionKeeper
from supervisor.chores.segments import SegmentLife, SegmentSelection
from supervisor.chores.sweep import Sweep
from supervisor.chores.task_output import TaskOutput
from supervisor.control.loop import Loop
from supervisor.control.observe import observe
from supervisor.control.reconcile import _apply_once
from supervisor.control.wakeups import Wakeups
from supervisor.control.worker_registry import WorkerRegistry
from supervisor.core.history.expiry import HistoryAges
from supervisor.core.model.rows import Generation
from supervisor.core.planning.actions import (
    Action,
    BeginHandoff,
    CloseEmpty,
    DiscardGeneration,
    EndTask,
    ResetOffsets,
    ResumeReading,
)
from supervisor.core.planning.offset_moves import NewOffsets
from supervisor.core.queue.events import QueueConfig, QueuedEvent, QueueName
from supervisor.core.tables.exports import KIND, Export
from supervisor.core.values.errors import LeaseLost, Unavailable
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.sessions import ENDED_KEPT, LASTS, Session
from supervisor.eventqueue.handling import Context, Handler
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.operations import Operations
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.metadata.store import SqlStore
from supervisor.ports.store import Transaction
from supervisor.services.supervisors.admission import OperatorPolicy
from supervisor.services.supervisors.backfill import Backfills
from supervisor.services.supervisors.handoff import HandoffRequests
from supervisor.services.supervisors.reset import Resets
from supervisor.services.supervisors.specs import Service
from tasks.contract.messages import SyncRequest
from tests.conformance.history.archive_story import history_is_archived, letters_are_handled
from tests.conformance.history.execution_story import leader_reports
from tests.conformance.history.watching_story import notes
from tests.conformance.metadata.overtaken import Deposed, Overtaken, uses_of_leading
from tests.conformance.metadata.writes.flows import executions_are_projected, flows_are_used
from tests.conformance.metadata.writes.keys import keys_are_used
from tests.conformance.metadata.writes.queues import WORK, queues_are_used
from tests.conformance.people_story import People
from tests.conformance.stories import SHORT_TTL
from tests.conformance.tables.compaction_story import Compactions
from tests.conformance.tables.replay_story import replays_are_sent
from tests.supervisor.api.world import spec_document
from tests.supervisor.chores.exports.exports import NoCopies, Shelf
from tests.supervisor.core.snapshots import HOUR, TOPIC, spec
from tests.supervisor.world import ENDINGS, World

pytestmark = pytest.mark.pg

TRIES = 30
SECOND = timedelta(seconds=1)
NOBODYS = "index_kafka_clicks_0123456789abcde_aaaabbbb"
_EXPORT = "chores/exports.py"
ONLY_READS = {
    *(("chores/task_output.py", "handle"), (_EXPORT, "_look"), (_EXPORT, "_follow")),
    ("chores/replays.py", "_due"),
}
"""Their transaction holds the term while they look; what they delete or commit comes after it."""
NUMBERED_AT_COMMIT = {
    *(("eventqueue/processor.py", "add"), ("chores/sweep.py", "_queue"), (_EXPORT, "_announce")),
    ("control/state_recorder.py", "_note_silence"),
}
"""Events get their rows just before the commit, after the story's rival has struck."""


@dataclass
class Story:
    """A leader on PostgreSQL that is overtaken once in each kind of write, and goes on."""

    store: Overtaken
    world: World
    warehouse: MemoryWarehouse = field(default_factory=MemoryWarehouse)

    def does(self, name: str, act: Callable[[], object]) -> None:
        """Act until nothing in it is overtaken any more."""
        self.store.step = name
        if self.store.begins(act):
            self._leads_again()
        for _ in range(TRIES):
            self.store.forget()
            try:
                act()
            except (Unavailable, LeaseLost):
                assert self.store.struck is not None, f"{name}: refused without a rival"
            if self.store.struck is None:
                return
            self._leads_again()
        raise AssertionError(f"{name} is overtaken again and again")

    def _leads_again(self) -> None:
        self.store.step_down()
        self.world.take_over()

    def term(self) -> int:
        return self.world.leadership.term()

    @property
    def loop(self) -> Loop:
        return Loop(lambda _: None, self.world.clock, threads=1)

    @property
    def service(self) -> Service:
        world = self.world
        leadership = world.leadership
        return Service(
            store=self.store,
            clock=world.clock,
            leadership=leadership,
            registry=WorkerRegistry(
                world.clock, worker_timeout=HOUR, led_since=leadership.led_since
            ),
            loop=self.loop,
            changed=Wakeups(),
            rules=OperatorPolicy(timedelta(seconds=60)),
        )

    def registers(self, incarnation: int) -> None:
        request = SyncRequest(
            worker_id="w1",
            incarnation=incarnation,
            sequence=1,
            url="http://w1:1",
            slots=8,
            tasks=(),
            known=None,
            wait=timedelta(0),
        )
        self.service.sync(request)

    def applies(self, action: Action) -> None:
        """Carry out one action that no planner has decided."""
        seen = observe(TOPIC, self.world.shell.sources, self.world.clock.now())
        assert seen is not None
        self.does("apply", lambda: _apply_once(action, seen, self.world.shell, self.term()))

    def live(self) -> list[Generation]:
        with self.store.reading() as tx:
            return tx.generations.live(TOPIC)

    def processor(self, handler: Handler, queue: QueueName = WORK) -> EventProcessor:
        kit = ProcessorParts(self.store, self.world.clock, self.term, Meters())
        return EventProcessor(queue, QueueConfig(truncate_every_bytes=1), handler, kit)

    @property
    def operations(self) -> Operations:
        return Operations(
            self.store,
            self.world.clock,
            self.term,
            Meters(),
            wake=lambda _: None,
            config_of=lambda _: QueueConfig(),
        )

    @property
    def early(self) -> HandoffRequests:
        return HandoffRequests(self.store, self.world.clock, self.world.leadership, self.loop)

    @property
    def resets(self) -> Resets:
        return Resets(
            self.store,
            self.world.streams,
            self.world.clock,
            self.world.leadership,
            self.loop,
            ENDINGS,
        )

    @property
    def backfills(self) -> Backfills:
        return Backfills(self.resets, self.service.check)

    def context(self) -> Context:
        return Context(self.store, self.term(), self.world.clock.now(), lambda: False)


@contextmanager
def _played_by(kind: type[Overtaken], url: str) -> Iterator[Story]:
    """Nothing has been overtaken yet."""
    sql = SqlStore(url, lease_ttl=SHORT_TTL)
    store = kind(sql, url)
    try:
        yield Story(store, World(store, spec(task_count=2, replicas=2)))
    finally:
        store.close()
        sql.close()


def test_each_write_of_a_leader_is_refused_when_another_term_begins_inside_it(
    postgresql_url: str,
) -> None:
    """Goal: nothing of it is ever visible, and the same write goes through in a newer term.

    A new use of `leading`, or a new action, needs a line in this story.
    """
    with _played_by(Overtaken, postgresql_url) as story:
        _plays(story)

        idle = {(site.module, site.function) for site in story.store.idle}
        assert idle <= ONLY_READS | NUMBERED_AT_COMMIT


@pytest.mark.long
def test_each_write_of_a_leader_that_does_not_know_of_its_end_is_refused(
    postgresql_url: str,
) -> None:
    """Goal: it writes under the term that it was given, never under the one that there is."""
    with _played_by(Deposed, postgresql_url) as story:
        _plays(story)


def _plays(story: Story) -> None:
    keys_are_used(story)
    flows_are_used(story)
    executions_are_projected(story)
    _verbs(story)
    _handoff(story)
    _watches(story)
    People(story, story.store).plays()
    _actions(story)
    _segments(story)
    Compactions(story, story.store).plays()
    queues_are_used(story)
    _exports(story)
    replays_are_sent(story, story.store)
    history_is_archived(story)
    leader_reports(story)
    letters_are_handled(story)
    _ends(story)

    reached = {(site.module, site.function) for site in story.store.seen}
    assert reached == uses_of_leading()
    actions = {site.what for site in story.store.seen if site.function == "_apply_once"}
    assert actions == {kind.__name__ for kind in typing.get_args(Action)}


def _verbs(story: Story) -> None:
    document = spec_document(task_count=1)
    story.does("apply", lambda: story.service.apply_spec(document, "ann"))
    story.does("suspend", lambda: story.service.suspend(TOPIC, "ann"))
    story.does("resume", lambda: story.service.resume(TOPIC, "ann"))
    story.does("register", lambda: story.registers(1))


def _watches(story: Story) -> None:
    for name, note in notes(story.store, story.world, story.loop):
        story.does(name, note)


def _handoff(story: Story) -> None:
    world = story.world
    world.set_spec(spec(task_count=2, replicas=2))
    for _ in range(2):
        story.does("pass", world.settle)
        world.sync()
        world.write(5)
        world.read(5)
    story.does("hand off", lambda: story.early.ask(TOPIC, [0], "ann"))
    world.clock.advance(2 * HOUR)
    for _ in range(3):
        story.does("pass", world.settle)
        world.sync()
    hand, replica = world.ready_to_publish()[0]
    story.does("publish", lambda: world.publish(hand, replica))
    story.does("take up", lambda: story.registers(2))


def _actions(story: Story) -> None:
    with story.store.reading() as tx:
        task = tx.tasks.active(supervisor_id=TOPIC)[0]
    story.applies(EndTask(task.id, succeeded=False, why="a story"))
    one, two = [each for each in story.live() if each.open]
    story.applies(BeginHandoff(one.id, one.sequence, must_end=True, why="a story"))
    one = next(each for each in story.live() if each.id == one.id)
    story.applies(ResumeReading(one.id, one.sequence, restart_timer=True, why="a story"))
    one = next(each for each in story.live() if each.id == one.id)
    story.applies(CloseEmpty(one.id, one.sequence, why="a story"))
    story.applies(DiscardGeneration(two.id, why="a story"))
    ends = story.world.ends
    with story.store.reading() as tx:
        topic_ids = {p.topic: row.topic_id for p, row in tx.offsets.of(TOPIC).items()}
    there = NewOffsets(dict(ends), topic_ids, dict(ends))
    story.applies(ResetOffsets(TOPIC, there, "a story"))


def _segments(story: Story) -> None:
    store, clock = story.store, story.world.clock
    life = SegmentLife(store, clock, story.term, grace=HOUR)
    retention = RetentionKeeper(store, clock, story.term, life)
    every = SegmentSelection()
    story.does("mark unused", lambda: life.mark_unused(TOPIC, every, "ann"))
    story.does("mark used", lambda: life.mark_used(TOPIC, every, "ann"))
    story.does("put a rule", lambda: retention.set(TOPIC, timedelta(days=9_000), "ann"))
    story.does("drop a rule", lambda: retention.drop(TOPIC, "ann"))
    ages, began = HistoryAges(HOUR, SECOND), clock.now() - 2 * (LASTS + ENDED_KEPT)
    with store.store.writing() as tx:
        tx.access.begin_session(Session("of a browser", "ann", began, began), 1)
    story.does("end history", EndOfHistory(store, clock, story.term, ages).run_once)


def _exports(story: Story) -> None:
    store, clock, files = story.store, story.world.clock, story.warehouse
    with store.store.leading(story.term()) as tx:
        files.mark(tx.installation.name())
        tx.exports.put(Export(TOPIC, ExportFormat.DELTA, enabled=True))
    story.does("compare", CompareAll(store, clock, story.term).run_once)
    exporting = Exporting(ExportFormat.DELTA, Shelf(), files, NoCopies())
    story.does("export", lambda: exporting([QueuedEvent(KIND, TOPIC)], story.context()))


def _ends(story: Story) -> None:
    store, clock, files = story.store, story.world.clock, story.warehouse
    with store.reading() as tx:
        files.mark(tx.installation.name())
    output = TaskOutput(files, story.world.hands)
    story.does("clean up", lambda: output.handle([], story.context()))
    files.write(f"{TOPIC}/data/{NOBODYS}/batch-0.parquet")
    sweep = Sweep(store, files, clock, story.term, ENDINGS)
    story.does("sweep", sweep.run_once)
    story.does("reset", lambda: story.resets.reset(TOPIC, "ann"))
    story.does("backfill", lambda: story.backfills.run(TOPIC, "ann"))
    story.does("terminate", lambda: story.service.terminate(TOPIC, "ann"))
    story.does("pass", story.world.settle)
    for each in story.live():
        story.applies(DiscardGeneration(each.id, why="a story"))
    _end_every_task(story)
    forgetting = Forgetting(store, clock, story.term, SECOND)
    story.does("forget", lambda: forgetting.forget(TOPIC, "ann"))
    gone = QueuedEvent("supervisor_gone", TOPIC, {"upTo": 1_000})
    story.does("delete", lambda: SupervisorGone()([gone], story.context()))


def _end_every_task(story: Story) -> None:
    with story.store.reading() as tx:
        tasks = tx.tasks.active()
    for task in tasks:
        story.applies(EndTask(task.id, succeeded=False, why="a story"))
    now = story.world.clock.now()
    with story.store.reading() as tx:
        ended = [t.id for t in tx.tasks.of_generations(_all_generations(tx))]
    with story.store.store.leading(story.term()) as tx:
        for task_id in ended:
            tx.tasks.folder_deleted(task_id, now)


def _all_generations(tx: Transaction) -> list[str]:
    newest = tx.generations.newest(TOPIC)
    assert newest is not None
    return [newest.id]


class _Unlocked(SqlStore):
    """A store that forgets to read the term."""

    def leading(self, term: int) -> AbstractContextManager[Transaction]:
        assert term
        return self.writing()


def test_a_store_that_does_not_lock_the_term_is_found_out(postgresql_url: str) -> None:
    """Goal: the story above can fail."""
    careless = _Unlocked(postgresql_url, lease_ttl=SHORT_TTL)
    store = Overtaken(careless, postgresql_url)
    world = World(store, spec())
    term = world.leadership.term
    rules = RetentionKeeper(
        store, world.clock, term, SegmentLife(store, world.clock, term, grace=HOUR)
    )
    with pytest.raises(AssertionError, match="no share lock"):
        rules.set(TOPIC, HOUR, "ann")
    store.close()
    careless.close()
