"""Topics that are lost are written from the rows that were projected: owners find the same."""

from contextlib import closing

from sqlalchemy import insert

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.restoring import SqlRestorableTables
from supervisor.adapters.executions.schema import ARTIFACT_USES
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import Concurrency, EachWork, FlowPlan, Step
from supervisor.executions.restoring import TopicsRestore
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import ExecutionChanges
from supervisor.ports.flows.restoring import HistoryStart
from tests.conformance.executions.test_projection import Tables, tables
from tests.environment.memory_log import MemoryLog
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.core.executions.world import call
from tests.supervisor.executions.sequencer.test_loop import Owners

__all__ = ["tables"]

EACH = FlowPlan("each", 1, (Step("all", EachWork([1, 2, 3], (call("one"),), 2)),))
ALONE = FlowPlan("alone", 1, (call("one"),), concurrency=Concurrency(1))


def test_owners_find_in_restored_topics_what_they_had(tables: Tables) -> None:
    owners = tables.owners = Owners(2)
    tables.loop = tables.new_loop()
    for name, plan in (("e1", EACH), ("e2", ALONE), ("e3", ALONE)):
        owners.start(plan, name)
    owners.work()
    tables.project()
    with tables.store.working(1) as rows:
        created = Execution("e4", ALONE, {}, BEGAN)
        rows.store(ExecutionChanges({"e4": created}, frozenset({"e4"})))

    anew = Owners(2)
    starts = {number: HistoryStart() for number in range(2)}
    with closing(ExecutionDatabase(tables.url)) as database:
        restore = TopicsRestore(
            SqlRestorableTables(database),
            lambda part: MemoryLog(anew.topics, part),
            starts,
            lambda: BEGAN,
        )
        seen = restore.look(has_state=False)
        restore.write()
    anew.restart()

    assert (seen.executions, seen.gates, seen.begin, list(seen.lacks)) == (3, 1, 1, [])
    for before, after in zip(owners.owners, anew.owners, strict=True):
        assert after.held.restored == before.held.restored
    anew.work()
    assert anew.get("e4").version > 0


def test_an_output_without_its_row_is_named(tables: Tables) -> None:
    with closing(ExecutionDatabase(tables.url)) as database:
        with database.writing() as connection:
            use = {"execution": "e1", "artifact": "r1-1-aa"}
            connection.execute(insert(ARTIFACT_USES), [use])

        assert SqlRestorableTables(database).lost_artifacts() == [("e1", "r1-1-aa")]


def test_new_topics_are_kept_and_projectors_begin_anew(tables: Tables) -> None:
    tables.owners.start(ALONE)
    tables.owners.work()
    tables.project()
    old, new = (KeptTopic(LogTopic.STATE, "state", 8, number) for number in ("id-1", "id-2"))
    with closing(ExecutionDatabase(tables.url)) as database:
        kept = KeptTopics(database)
        kept.keep([old])
        kept.keep([new])
        assert kept.all() == {LogTopic.STATE: old}
        assert tables.projection.positions()

        kept.replace([new])

        assert kept.all() == {LogTopic.STATE: new}
        assert not tables.projection.positions()
