"""The state on topics is written anew from tables: owners go on where the tables are."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import CallWork, Concurrency, FlowPlan, Step
from supervisor.core.executions.records import StateRecord, head_record, plan_record
from supervisor.core.executions.states import ExecutionState
from supervisor.executions.restoring import RestoreRefused, TopicsRestore
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.restoring import HistoryStart
from tests.environment.memory_log import MemoryLog, MemoryTopics
from tests.supervisor.core.crashes.world.world import BEGAN
from tests.supervisor.executions.sequencer.test_loop import PLAN, Owners

TWO = FlowPlan("f", 1, (Step("a", CallWork("noop")), Step("b", CallWork("noop"), after=("a",))))
ALONE = FlowPlan("alone", 1, PLAN.steps, concurrency=Concurrency(1))
NAMES = [f"e{number}" for number in range(8)]


@dataclass
class Tables:
    """Implements `RestorableTables`: what the state was when it was lost."""

    all: dict[str, list[StateRecord]] = field(default_factory=dict)
    of_gates: list[StateRecord] = field(default_factory=list)

    @classmethod
    def of(cls, topics: MemoryTopics, entities: int) -> "Tables":
        """Repeat the topics."""
        records: dict[str, list[StateRecord]] = defaultdict(list)
        gates = []
        for number in range(entities):
            for one in MemoryLog(topics, number).look():
                kind, _, rest = one.key.partition("/")
                if one.value is not None and kind == "e":
                    records[rest.partition("/")[0]].append(one)
                elif one.value is not None and kind == "g":
                    gates.append(one)
        return cls(dict(records), gates)

    def executions(self) -> Sequence[str]:
        """Return all."""
        return sorted(self.all)

    def records(self, executions: Collection[str]) -> Mapping[str, Sequence[StateRecord]]:
        """Return those that are there."""
        return {name: self.all[name] for name in executions if name in self.all}

    def gates(self) -> Sequence[StateRecord]:
        """Return all."""
        return self.of_gates

    def lost_artifacts(self) -> Sequence[tuple[str, str]]:
        """Return one."""
        return [("e0", "a-1")]


def _restore(owners: Owners, tables: Tables) -> TopicsRestore:
    starts = {
        number: HistoryStart(len(owners.topics.of(LogTopic.HISTORY, number)))
        for number in range(owners.entities)
    }
    return TopicsRestore(tables, lambda part: MemoryLog(owners.topics, part), starts, lambda: BEGAN)


def _half_way() -> Owners:
    """Return owners whose executions have made their first step, or wait for another one."""
    owners = Owners(2)
    for name in NAMES:
        owners.start(TWO, name)
    owners.start(ALONE, "first")
    owners.start(ALONE, "second")
    owners.work()
    return owners


def _end(owners: Owners) -> dict[str, ExecutionState]:
    for _ in range(4):
        owners.finish()
    held = [owner.held.restored.executions for owner in owners.owners]
    return {name: execution.state for each in held for name, execution in each.items()}


def test_owners_go_on_where_the_tables_are() -> None:
    before = _half_way()
    tables = Tables.of(before.topics, 2)
    tables.all["new"] = [
        each(Execution("new", PLAN, {}, BEGAN)) for each in (head_record, plan_record)
    ]
    after = Owners(2)
    restore = _restore(after, tables)
    seen = restore.look(has_state=False)
    restore.write()
    after.restart()
    after.topics.records |= {
        place: some for place, some in before.topics.records.items() if place[0] is LogTopic.CALLS
    }

    assert (seen.executions, seen.live, seen.gates, seen.begin) == (10, 10, 1, 1)
    assert seen.lacks == ["execution e0: its large output a-1 has no row"]
    after.work()
    assert after.get("second").state is ExecutionState.QUEUED
    assert set(_end(after).values()) == {ExecutionState.SUCCESS}
    assert len(_end(after)) == len(NAMES) + 3


def test_a_state_of_an_owner_is_not_written_over_unless_that_is_wanted() -> None:
    owners = _half_way()
    tables = Tables.of(owners.topics, 2)
    _end(owners)
    newer = len(owners.topics.of(LogTopic.STATE))
    restore = _restore(owners, tables)

    assert restore.look().in_use == [0, 1]
    with pytest.raises(RestoreRefused, match="has records"):
        restore.write()
    assert len(owners.topics.of(LogTopic.STATE)) == newer

    positions = [owner.held.position.next for owner in owners.owners]
    restore.write(force=True)
    owners.restart()

    assert owners.get("e1").state is ExecutionState.RUNNING
    assert [owner.held.position.next for owner in owners.owners] == positions


def test_a_restore_that_ended_early_is_done_once_more() -> None:
    owners = _half_way()
    tables = Tables.of(owners.topics, 2)
    after = Owners(2)
    after.topics.records.clear()
    restore = _restore(after, tables)
    restore.write()

    restore.write()

    assert restore.look().in_use == []


def test_an_execution_that_cannot_be_read_is_written_anew_alone() -> None:
    owners = _half_way()
    tables = Tables.of(owners.topics, 2)
    place = partition_of("e1", 2)
    restore = _restore(owners, tables)
    with pytest.raises(RestoreRefused, match="can read it"):
        restore.repair("e1")
    owners.topics.append(LogTopic.STATE, place, "e/e1", b"no JSON")
    owners.topics.append(LogTopic.STATE, place, "e/e1/r/other", b"no JSON")
    owners.restart()
    assert owners.owners[place].held.unreadable("e1") is not None

    restore.repair("e1")
    owners.restart()

    assert owners.owners[place].held.unreadable("e1") is None
    assert "other" not in owners.get("e1").runs
    assert set(_end(owners).values()) == {ExecutionState.SUCCESS}
    with pytest.raises(RestoreRefused, match="have no execution nobody"):
        restore.repair("nobody")


def test_what_the_tables_cannot_give_is_named_and_left_as_it_is() -> None:
    owners = _half_way()
    tables = Tables.of(owners.topics, 2)
    tables.all["e1"] = [StateRecord("e/e1", b"no JSON")]
    tables.of_gates.append(StateRecord("g/broken", b"no JSON"))
    restore = _restore(owners, tables)
    lacks = restore.look().lacks
    restore.write(force=True)
    owners.restart()

    assert lacks[0].startswith("execution e1: its rows cannot be read: it is no JSON")
    assert lacks[1].startswith("gate broken: it is no JSON")
    assert owners.get("e1").state is ExecutionState.RUNNING
    with pytest.raises(RestoreRefused, match="cannot give the execution e1"):
        restore.repair("e1", force=True)
