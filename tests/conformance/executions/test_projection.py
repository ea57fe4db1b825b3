"""The tables say what the topics say: whatever is compacted, whoever dies, however many project."""

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from sqlalchemy import func, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.schema import (
    CALLS,
    CLAIMS,
    EVENTS,
    EXECUTIONS,
    LABELS,
    RUNS,
)
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import Claim
from supervisor.core.executions.plan import FlowPlan
from supervisor.core.executions.records import CALL_FORM
from supervisor.executions import projected
from supervisor.executions.projector import ProjectionLoop
from supervisor.executions.sequencer.letters import LETTER_FORM, ExecutionPurge
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import ExecutionChanges
from supervisor.ports.flows.projection import ProjectedSteps, ProjectionStep
from supervisor.ports.store_problems import StoreAway
from tests.environment.memory_feed import MemoryFeed
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.test_any_order import Life
from tests.supervisor.core.executions.world import call
from tests.supervisor.executions.sequencer.test_loop import RUNNER, Owners
from tests.supervisor.executions.sequencer.test_random_lives import OverTopics

PLAN = FlowPlan("f", 3, (call("one"), call("two", "one")))


class Crashing(SqlProjection):
    """A store whose process dies now and then: before the commit, or after it."""

    chance = random.Random(0)
    share = 0.0

    def project(self, steps: Sequence[ProjectionStep]) -> ProjectedSteps:
        """Store them, or not, and be heard of, or not."""
        if self.chance.random() < self.share:
            raise StoreAway("before it was committed")
        done = super().project(steps)
        if self.chance.random() < self.share:
            raise StoreAway("after it was committed")
        return done


@dataclass
class Tables:
    """A database, and projectors that write it."""

    url: str
    owners: Owners = field(default_factory=Owners)
    compacted: dict[int, int] = field(default_factory=dict)
    at_once: int = 1_000_000
    idle_every_s: float = 0.0

    def __post_init__(self) -> None:
        """Open the database, and let one projector begin."""
        self.store = SqlExecutions(ExecutionDatabase(self.url))
        self.projection = Crashing(ExecutionDatabase(self.url))
        self.loop = self.new_loop()

    def new_loop(self) -> ProjectionLoop:
        """Return a projector that has not begun."""
        feed = MemoryFeed(self.owners.topics, self.compacted, self.at_once)
        return ProjectionLoop(feed, self.projection, self.idle_every_s)

    def turn(self, loop: ProjectionLoop | None = None) -> None:
        """Let a projector make one step."""
        loop = loop or self.loop
        loop.follow(frozenset(range(self.owners.entities)))
        loop.turn(0)

    def project(self) -> None:
        """Let the projector catch up, results last."""
        for _ in range(3):
            self.turn()
        ends = MemoryFeed(self.owners.topics)
        while any(
            each.state.done < ends.end(each.state.place)
            or each.results.done < ends.end(each.results.place)
            for each in self.loop.open.values()
        ):
            self.turn()

    def get(self, execution: str) -> Execution | None:
        """Return an execution as another process reads it."""
        with closing(SqlExecutions(ExecutionDatabase(self.url))) as store, store.reading() as rows:
            return rows.execution(execution)

    def numbers(self, execution: str) -> list[int]:
        """Return the numbers of the events of an execution."""
        with self.store.reading() as rows:
            return [one.number for one in rows.events(execution, 0, 10_000)]

    def counts(self) -> dict[str, int]:
        """Return how many rows there are."""
        with closing(ExecutionDatabase(self.url)) as database, database.reading() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in (EXECUTIONS, RUNS, LABELS, CALLS, CLAIMS, EVENTS)
            }

    def close(self) -> None:
        """Close every connection."""
        self.store.close()
        self.projection.close()


@pytest.fixture
def tables(executions_url: str) -> Iterator[Tables]:
    """A migrated database with nothing in it."""
    with closing(Tables(executions_url)) as some:
        yield some


class Watched(OverTopics):
    """An engine whose topics are projected while it lives, by projectors that die."""

    tables: Tables
    known: dict[str, int]

    def work(self, now: datetime) -> None:
        """Work everything in, and project some of it."""
        super().work(now)
        tables, chance = self.tables, self.chance
        if chance.random() < 0.1:
            state = tables.owners.topics.of(LogTopic.STATE, part := chance.randrange(2))
            tables.compacted[part] = len(state)
        if chance.random() < 0.2:
            tables.loop = tables.new_loop()
        for _ in range(chance.randrange(3)):
            try:
                tables.turn()
            except StoreAway:
                tables.loop = tables.new_loop()
        with tables.store.reading() as rows:
            versions = dict(rows.versions(self.executions))
        assert all(version >= self.known.get(name, 0) for name, version in versions.items())
        self.known = versions


@pytest.mark.parametrize("seed", range(12))
def test_random_lives_come_to_the_same_rows(
    executions_url: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projected, "STEP_MAX", 3)
    life = Life(seed)
    engine = life.world.engine
    engine.__class__ = Watched
    assert isinstance(engine, Watched)
    owners = Owners(2, dict(life.world.flows))
    engine.over(owners, seed)
    with closing(Tables(executions_url, owners, at_once=7, idle_every_s=60)) as tables:
        tables.projection.chance, tables.projection.share = random.Random(seed), 0.1
        engine.tables, engine.known = tables, {}

        life.live()

        tables.projection.share = 0.0
        tables.loop = tables.new_loop()
        tables.project()
        for known in engine.executions.values():
            assert tables.get(known.id) == known
            events = engine.events[known.id]
            assert tables.numbers(known.id) == [one.number for one in events]
        assert tables.counts()["executions"] == len(engine.executions)


def test_two_projectors_of_a_partition_write_each_event_once(tables: Tables) -> None:
    other = tables.new_loop()
    for number in range(6):
        tables.owners.start(PLAN, f"e{number}")
        tables.owners.work()
        tables.turn(other if number % 2 else None)
    tables.owners.finish()
    tables.turn(other)
    tables.turn()
    tables.turn(other)
    tables.project()

    for number in range(6):
        assert tables.get(f"e{number}") == tables.owners.get(f"e{number}")
        events = tables.numbers(f"e{number}")
        assert events == list(range(1, len(events) + 1))


def test_the_row_that_the_leader_has_stored_is_overtaken(tables: Tables) -> None:
    created = Execution("e1", PLAN, {}, BEGAN, labels={"team": "a"})
    with tables.store.working(1) as rows:
        rows.store(ExecutionChanges({"e1": created}, frozenset({"e1"})))
    tables.owners.start(PLAN)
    tables.owners.work()
    tables.project()

    stored = tables.get("e1")
    assert stored is not None
    assert stored.version == tables.owners.get("e1").version
    assert tables.counts()["labels"] == 1


def test_calls_that_wait_or_are_made_are_counted_until_they_are_done(tables: Tables) -> None:
    """Goal: `tidegate_execution_calls` says the same as without Kafka."""

    def counted() -> tuple[int, int]:
        tables.project()
        with tables.store.reading() as rows:
            sums = rows.sums()
        return sums.calls, sums.held

    for name in ("e1", "e2"):
        tables.owners.start(PLAN, name)
    tables.owners.work()
    assert counted() == (2, 0)

    job = CALL_FORM.read(tables.owners.topics.of(LogTopic.CALLS)[0].value or b"")
    tables.owners.send(job.execution, Claim(job.run, job.attempt, RUNNER))
    tables.owners.work()
    assert counted() == (2, 1)
    tables.projection.clear()
    assert counted() == (2, 1)

    tables.owners.finish()
    assert counted() == (2, 0), "those of the second steps"
    tables.owners.finish()
    assert counted() == (0, 0)


def test_e13_a_purged_execution_leaves_no_row_and_its_events_never_come_back(
    tables: Tables,
) -> None:
    tables.owners.start(PLAN)
    tables.owners.start(PLAN, "e2")
    tables.owners.work()
    tables.owners.finish()
    tables.owners.finish()
    tables.project()
    assert tables.owners.get("e1").state.ended
    letter = LETTER_FORM.write(ExecutionPurge())
    tables.owners.topics.append(LogTopic.HISTORY, 0, "e1", letter)
    tables.owners.work()
    tables.project()

    assert tables.get("e1") is None
    assert tables.get("e2") is not None
    before = tables.counts()
    tables.projection.clear()
    tables.project()
    assert tables.counts() == before, "its events are still in the topic, and nobody's"


def test_everything_is_read_again_by_command_but_what_is_in_no_topic(tables: Tables) -> None:
    tables.owners.start(PLAN)
    tables.owners.work()
    tables.project()
    waiting = Execution("e9", PLAN, {}, BEGAN)
    with tables.store.working(1) as rows:
        rows.store(ExecutionChanges({"e9": waiting}, frozenset({"e9"})))
    before = tables.counts()

    assert tables.projection.clear() == 1
    assert tables.get("e1") is None
    assert tables.get("e9") == waiting, "its letter has not been sent"
    tables.project()

    assert tables.get("e1") == tables.owners.get("e1")
    assert tables.counts() == before


def test_e12_an_execution_that_cannot_be_read_is_passed_over(tables: Tables) -> None:
    tables.owners.start(PLAN)
    tables.owners.start(PLAN, "e2")
    tables.owners.work()
    tables.owners.topics.append(LogTopic.STATE, 0, "e/e1", b'{"v":1,"id":7}')
    tables.owners.topics.append(LogTopic.STATE, 0, "e/e3/r/x", b'{"v":1}')
    tables.project()

    assert tables.get("e1") is None
    assert tables.get("e2") == tables.owners.get("e2")


def test_a_record_of_a_newer_release_keeps_its_partition_where_it_is(tables: Tables) -> None:
    tables.owners.start(PLAN)
    tables.owners.work()
    tables.project()
    positions = tables.projection.positions()
    tables.owners.topics.append(LogTopic.STATE, 0, "e/e2", b'{"v":9}')
    tables.owners.topics.append(LogTopic.RESULTS, 0, "e2", b'{"v":9}')
    tables.turn()
    tables.turn()

    assert "needs version 9" in tables.loop.troubles()[0]
    assert tables.projection.positions() == positions
