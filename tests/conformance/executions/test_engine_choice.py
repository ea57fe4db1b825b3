"""The engine that executions live on: it changes only while none lives."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.engine_choice import EngineChoice
from supervisor.adapters.executions.outbox import SqlOutbox
from supervisor.adapters.manual_clock import ManualClock
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.inputs import KillIt
from supervisor.core.executions.plan import ApproveWork, FlowPlan, Step
from supervisor.core.values.errors import LeaseLost
from supervisor.executions.engine_term import EngineTerm
from supervisor.executions.flow_watch import FlowWatch
from supervisor.executions.letter_engine import LetterEngine
from supervisor.ports.flows.engine_kinds import EngineKind, EngineRefused
from tests.supervisor.core.crashes.scenarios.stored import Stored
from tests.supervisor.core.crashes.world.world import BEGAN, LANGUAGE

_ASKS = FlowPlan("asks", 1, (Step("ok", ApproveWork("go on?")),))


@pytest.fixture
def database(executions_url: str) -> Iterator[ExecutionDatabase]:
    """Another process's connections."""
    with closing(ExecutionDatabase(executions_url)) as opened:
        yield opened


def _choice(database: ExecutionDatabase, kind: EngineKind) -> EngineChoice:
    return EngineChoice(database, kind, ManualClock(BEGAN))


def test_the_first_leader_takes_the_engine_that_is_set(database: ExecutionDatabase) -> None:
    kafka = _choice(database, EngineKind.KAFKA)
    kafka.look()
    kafka.take(1)
    kafka.take(1)
    _choice(database, EngineKind.SQL).take(2)
    _choice(database, EngineKind.KAFKA).take(3)
    with pytest.raises(LeaseLost):
        _choice(database, EngineKind.SQL).take(2)


@pytest.mark.parametrize("has_row", [False, True])
def test_topics_are_refused_while_executions_live_in_the_database(
    database: ExecutionDatabase, stored: Stored, has_row: bool
) -> None:
    """Goal: nobody waits for ever for an execution that the set engine does not know of."""
    if has_row:
        _choice(database, EngineKind.SQL).take(1)
    for name in ("e1", "e2"):
        stored.start(_ASKS, name)
    kafka = _choice(database, EngineKind.KAFKA)

    with pytest.raises(EngineRefused) as refused:
        kafka.take(1)

    assert str(refused.value) == (
        "2 executions live in the database, and here they would run on Kafka "
        "(`tidegate execution list --state running`): start overlords and executors without "
        "TIDEGATE_EXECUTIONS_KAFKA again, and let them end or kill them; then change the setting"
    )
    with pytest.raises(EngineRefused):
        kafka.look()
    for name in ("e1", "e2"):
        stored.send(name, KillIt("ann", force=True))
    kafka.take(1)
    kafka.look()


def test_the_database_is_refused_while_executions_live_on_topics(
    database: ExecutionDatabase, stored: Stored
) -> None:
    _choice(database, EngineKind.KAFKA).take(1)
    LetterEngine(stored.store, lambda: 1, LANGUAGE, lambda: BEGAN, within_s=0).work(
        starts=[Execution("e1", _ASKS, {}, BEGAN)]
    )
    sql = _choice(database, EngineKind.SQL)

    with pytest.raises(EngineRefused, match="1 execution lives on Kafka, and here"):
        sql.take(2)

    stored.send("e1", KillIt("ann", force=True))  # executors and the projection
    sql.take(2)
    assert SqlOutbox(database).first(9) == [], "letters about what has ended"


def test_an_engine_is_taken_once_a_term_and_refused_until_it_may(
    database: ExecutionDatabase, stored: Stored
) -> None:
    stored.start(_ASKS, "e1")
    taken: list[int] = []
    kafka = _choice(database, EngineKind.KAFKA)

    def take(number: int) -> None:
        kafka.take(number)
        taken.append(number)

    terms = [1, 1, 1, 2]
    term = EngineTerm(lambda: terms.pop(0), take)
    with pytest.raises(EngineRefused):
        term()
    stored.send("e1", KillIt("ann", force=True))

    assert [term(), term(), term()] == [1, 1, 2]
    assert taken == [1, 2]


def test_the_overview_says_why_flows_do_not_run(
    database: ExecutionDatabase, stored: Stored
) -> None:
    stored.start(_ASKS, "e1")
    clock, kafka = ManualClock(BEGAN), _choice(database, EngineKind.KAFKA)
    watch = FlowWatch(stored.store, clock, kafka.look)

    watch.run_once()

    seen = watch.last()
    assert seen is not None
    assert seen.trouble.startswith("1 execution lives in the database, and here they")
