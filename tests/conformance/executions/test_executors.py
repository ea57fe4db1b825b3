"""The registry of executors: who is alive, by the database's clock, and who is gone."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from sqlalchemy import update

from supervisor.adapters.executions import executors
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.schema import EXECUTORS
from supervisor.core.executions.entities import Runner
from supervisor.executions.executor.losses import LossWatch
from supervisor.executions.executor.registration import Registration
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.flows.executors import ExecutorDoing
from supervisor.ports.store_problems import StoreAway
from tests.supervisor.core.crashes.world.world import BEGAN

ONE, TWO, AGAIN = Runner("one", "1"), Runner("two", "1"), Runner("two", "2")


@dataclass
class Holding:
    """An engine whose calls others hold."""

    runners: set[Runner] = field(default_factory=set)
    lost: list[Runner] = field(default_factory=list)

    def holders(self) -> set[Runner]:
        """Return them."""
        return self.runners - set(self.lost)

    def lose(self, runner: Runner) -> int:
        """Note it."""
        self.lost.append(runner)
        return 1


@dataclass
class Time:
    """Passes as the test says."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def database(executions_url: str) -> Iterator[ExecutionDatabase]:
    """A database of executions."""
    with closing(ExecutionDatabase(executions_url)) as opened:
        yield opened


@pytest.fixture
def time() -> Time:
    """The clock of the process that looks."""
    return Time()


@pytest.fixture
def own(database: ExecutionDatabase, time: Time) -> Registration:
    """The process that looks; it is registered."""
    registry = SqlExecutors(database)
    makes = [CallPlace("day:mon", "pack", 1), CallPlace("day:tue", "runs", 2, 3)]
    row = Registration(
        registry, ONE, "http://one", lambda: [3], lambda: makes, lambda: "late", monotonic=time
    )
    row.registry.register(ONE, "http://one")
    row.renew()
    return row


def _is_silent(database: ExecutionDatabase, runner: Runner) -> None:
    with database.writing() as connection:
        connection.execute(
            update(EXECUTORS).where(EXECUTORS.c.name == runner.name).values(renewed_at=BEGAN)
        )


def _whole(own: Registration, time: Time) -> None:
    """Let time pass in which the registry answers."""
    for _ in range(6):
        time.now += 2.0
        own.renew()


def test_rows_say_who_is_there_and_what_it_works(own: Registration) -> None:
    own.registry.register(TWO, "http://two")
    rows = own.registry.all()

    makes = [CallPlace("day:mon", "pack", 1), CallPlace("day:tue", "runs", 2, 3)]
    assert [(row.runner, row.url, row.doing) for row in rows] == [
        (ONE, "http://one", ExecutorDoing([3], makes, "late")),
        (TWO, "http://two", ExecutorDoing([], [], "")),
    ]
    assert own.gone({TWO}) == set()


def test_who_was_silent_or_has_left_is_gone(
    own: Registration, database: ExecutionDatabase, time: Time
) -> None:
    left = Runner("left", "1")
    for each in (TWO, left):
        own.registry.register(each, "http://")
    own.registry.leave(left)
    _is_silent(database, TWO)
    assert own.gone({TWO, left}) == set(), "it may be the database that was away"

    _whole(own, time)

    assert own.gone({TWO, left}) == {TWO, left}


def test_a_new_life_of_a_name_ends_the_one_before_at_once(own: Registration) -> None:
    second = SqlExecutors(own.registry._database)  # type: ignore[attr-defined]
    before = Registration(SqlExecutors(own.registry._database), TWO, "", list)  # type: ignore[attr-defined]
    before.registry.register(TWO, "http://two")
    second.register(AGAIN, "http://two")

    assert own.gone({TWO, AGAIN}) == {TWO}
    before.renew()
    assert before.superseded
    before.registry.leave(TWO)
    assert AGAIN in {row.runner for row in own.registry.all()}, "it deletes its own row alone"


def test_a_life_whose_results_the_next_one_offers_is_not_gone_before_they_are_worked_in(
    own: Registration,
) -> None:
    """Goal: a restart while Kafka was away makes no call again that was done."""
    offers = ["1"]
    registry = SqlExecutors(own.registry._database)  # type: ignore[attr-defined]
    following = Registration(registry, AGAIN, "", list, offers=lambda: offers)
    registry.register(TWO, "http://two")
    registry.register(AGAIN, "http://two", ExecutorDoing(offers=offers))
    assert own.gone({TWO, Runner("two", "0")}) == {Runner("two", "0")}
    following.renew()
    assert own.gone({TWO}) == set()

    offers.clear()
    following.renew()

    assert own.gone({TWO}) == {TWO}


@pytest.mark.parametrize("passed", [timedelta(0), timedelta(hours=-1)])
def test_a_new_life_ends_the_one_before_whatever_the_clock_does(
    database: ExecutionDatabase, monkeypatch: pytest.MonkeyPatch, passed: timedelta
) -> None:
    before = Registration(SqlExecutors(database), TWO, "", list)
    monkeypatch.setattr(executors, "_now", lambda _: BEGAN)
    before.registry.register(TWO, "http://two")
    monkeypatch.setattr(executors, "_now", lambda _: BEGAN + passed)
    SqlExecutors(database).register(AGAIN, "http://two")

    before.renew()

    assert before.superseded


def test_a_row_that_is_gone_is_written_anew(own: Registration) -> None:
    own.registry.leave(ONE)
    own.renew()

    assert not own.superseded
    assert [row.runner for row in own.registry.all()] == [ONE]


def test_calls_are_lost_of_those_alone_who_are_gone(
    own: Registration, database: ExecutionDatabase, time: Time
) -> None:
    own.registry.register(TWO, "http://two")
    third = Runner("three", "1")
    own.registry.register(third, "http://three")
    engine = Holding({ONE, TWO, third})
    watch = LossWatch(engine, own)
    _whole(own, time)
    watch.run_once()
    assert engine.lost == []

    _is_silent(database, TWO)
    watch.run_once()

    assert (engine.lost, watch.lost) == ([TWO], 1)


class Away:
    """A registry that does not answer."""

    def register(self, *_: object) -> None:
        """Do nothing."""

    def renew(self, *_: object) -> bool:
        """Fail."""
        raise StoreAway("no answer")

    def leave(self, *_: object) -> None:
        """Do nothing."""

    def all(self) -> list[object]:
        """Fail."""
        raise StoreAway("no answer")


def test_nobody_is_gone_while_the_database_is_away_nor_soon_after(
    own: Registration, database: ExecutionDatabase, time: Time
) -> None:
    own.registry.register(TWO, "http://two")
    _whole(own, time)
    there, own.registry = own.registry, Away()  # type: ignore[assignment]
    engine = Holding({TWO})
    watch = LossWatch(engine, own)
    time.now += 2.0
    own.renew()
    watch.run_once()
    assert own.trouble == "no answer"

    own.registry = there
    _is_silent(database, TWO)  # as the database was away for all
    own.renew()
    watch.run_once()
    assert engine.lost == []

    _whole(own, time)
    watch.run_once()
    assert engine.lost == [TWO]


def test_executors_that_start_at_once_keep_the_topics_of_one(database: ExecutionDatabase) -> None:
    """Goal: who comes second finds rows, and is no reason to end."""
    gate, troubles = threading.Barrier(8), list[Exception]()

    def keep(number: int) -> None:
        topics = [KeptTopic(each, f"{each}", 8, f"id-{number}") for each in LogTopic]
        gate.wait(60)
        try:
            KeptTopics(database).keep(topics)
        except Exception as error:  # noqa: BLE001 -- shown below
            troubles.append(error)

    threads = [threading.Thread(target=keep, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert troubles == []
    kept = KeptTopics(database).all()
    assert kept.keys() == set(LogTopic)
    assert len({each.topic_id for each in kept.values()}) == 1
