"""What the leader reports of supervisors, compactions, and executions, on each database."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

import pytest
from pydantic import JsonValue
from sqlalchemy import delete, insert, select

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.schema import EVENTS
from supervisor.adapters.reports.logs.memory_logs import MemoryLogStore
from supervisor.adapters.reports.memory import MemoryReports
from supervisor.chores.reports.executions import ReportExecutions
from supervisor.chores.reports.supervisors import ReportSupervisors
from supervisor.core.executions.inputs import Outcome, Succeeded
from supervisor.core.history.execution_records import execution_result_id
from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.reports.status import StoreOutcome
from supervisor.core.values.errors import ExecutionNotFound
from supervisor.metadata.store import SqlStore
from supervisor.ports.reports.archive import EXECUTION_REPORTS, SUPERVISOR_REPORTS
from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.workers.task_logs import LogPart
from supervisor.reports.incoming import parts_of
from supervisor.services.flows.execution_reports import ExecutionReports
from supervisor.services.flows.logs import ExecutionLogs
from tasks.reporting.levels import ReportLevels, read_levels
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, read_record
from tests.conformance.history.archive_story import Topic, happens
from tests.conformance.history.execution_story import (
    EACH,
    LOAD_AND_VERIFY,
    RUNNER,
    fails,
    runs,
    starts,
)
from tests.conformance.stories import CLICKS, LEASE_TTL, NOON, Leader, take_lease
from tests.environment.executions import executions_sqlite_url, migrated_executions_file
from tests.supervisor.core.crashes.scenarios.stored import Stored

__all__ = ["executions_sqlite_url", "migrated_executions_file"]

ALWAYS = ReportLevels()


@pytest.fixture
def leader(database_url: str) -> Iterator[Leader]:
    """A leader."""
    store = SqlStore(database_url, lease_ttl=LEASE_TTL)
    yield Leader(store, take_lease(store))
    store.close()


@pytest.fixture
def stored(executions_sqlite_url: str) -> Iterator[Stored]:
    """An engine over an empty database."""
    with closing(Stored(executions_sqlite_url, {})) as engine:
        yield engine


@dataclass
class _Store(Topic):
    """A topic whose persister stores reports; log chunks are kept as they come."""

    chunks: list[ReportRecord] = field(default_factory=list)

    def persist(self, *, but: Sequence[int] = ()) -> None:
        logs = [each for each in self._waiting if each.type is RecordType.LOG_CHUNK]
        self.chunks += logs
        self._waiting[:] = [each for each in self._waiting if each not in logs]
        super().persist(but=but)


def _changes(leader: Leader, state: str, *, healthy: bool, why: str = "") -> None:
    detail: dict[str, JsonValue] = {
        "state": state,
        "detailedState": state,
        "why": why,
        "healthy": healthy,
    }
    with leader.writes() as tx:
        tx.happenings.record(LifecycleEvent(NOON, EventKind.STATE_CHANGED, CLICKS, detail))


def _compacts(leader: Leader, status: str) -> None:
    detail = {"compaction": "compact_a", "dataSource": "t", "status": status, "reason": "lost"}
    with leader.writes() as tx:
        tx.happenings.record(LifecycleEvent(NOON, EventKind.COMPACTION_ENDED, CLICKS, detail))


def _of_supervisors(
    leader: Leader, topic: Topic, levels: ReportLevels = ALWAYS
) -> ReportSupervisors:
    return ReportSupervisors(leader.store, lambda: leader.term, topic, levels, page=3)


def _of_executions(
    leader: Leader,
    stored: Stored,
    topic: Topic,
    levels: ReportLevels = ALWAYS,
    reports: ReportStore | None = None,
) -> ReportExecutions:
    return ReportExecutions(
        leader.store, lambda: leader.term, stored.store, topic, reports, levels, page=2
    )


def test_changes_of_state_and_ends_of_compactions_are_reported_once(leader: Leader) -> None:
    topic = Topic()
    happens(leader, 4)
    _changes(leader, "RUNNING", healthy=True)
    _changes(leader, "UNHEALTHY_TASKS", healthy=False, why="the tasks fail")
    _compacts(leader, "FAILED")
    duty = _of_supervisors(leader, topic)

    assert [duty.run_once(), duty.run_once()] == [3, 0]

    states = [(each.status, each.place, each.origin) for each in topic.sent]
    assert states == [
        ("RUNNING", 5, RecordOrigin.SUPERVISOR),
        ("UNHEALTHY_TASKS", 6, RecordOrigin.SUPERVISOR),
        ("FAILED", 7, RecordOrigin.COMPACTION),
    ]
    assert [each.subject for each in topic.sent] == [CLICKS, CLICKS, "compact_a"]
    assert topic.sent[1].payload["error"] == "the tasks fail"
    assert topic.sent[2].data_source == "t"
    assert [read_record(each.to_json().encode()) for each in topic.sent] == topic.sent


def test_the_next_leader_goes_on_and_what_it_repeats_is_stored_already(leader: Leader) -> None:
    topic = Topic()
    _changes(leader, "RUNNING", healthy=True)
    _of_supervisors(leader, topic).run_once()
    with leader.writes() as tx:  # sent, and not noted: the leader died in between
        tx.archive.end()
    _changes(leader, "SUSPENDED", healthy=True)

    _of_supervisors(leader, topic).run_once()

    assert topic.outcomes == [StoreOutcome.STORED, StoreOutcome.CONFLICT, StoreOutcome.STORED]
    with leader.reads() as tx:
        assert tx.archive.positions()[SUPERVISOR_REPORTS].sent_to == 2


def test_below_always_only_what_is_bad_is_reported(leader: Leader, stored: Stored) -> None:
    topic = _Store()
    _changes(leader, "RUNNING", healthy=True)
    _changes(leader, "UNHEALTHY_TASKS", healthy=False)
    levels = read_levels("supervisor=failures,execution=failures")
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})
    starts(stored, LOAD_AND_VERIFY, "nightly:1")
    runs(stored, "nightly:1", {"load": [fails("one"), Succeeded()], "verify": [Succeeded()]})

    _of_supervisors(leader, topic, levels).run_once()
    assert [each.status for each in topic.sent] == ["UNHEALTHY_TASKS"]
    _of_executions(leader, stored, topic, levels).run_once()

    assert [(each.subject, each.status) for each in topic.sent[1:]] == [
        ("nightly:1/load", "FAILED")
    ]


def test_events_that_are_on_their_way_are_waited_for_but_not_for_ever(
    leader: Leader, stored: Stored, executions_sqlite_url: str
) -> None:
    """Goal: tables that repeat topics have an execution's end before its last events."""
    topic = _Store()
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})
    newest = EVENTS.c.number == stored.get("each:1").events
    database = ExecutionDatabase(executions_sqlite_url)
    with database.writing() as connection:
        row = connection.execute(select(EVENTS).where(newest)).one()
        connection.execute(delete(EVENTS).where(newest))
    duty = _of_executions(leader, stored, topic)
    assert [duty.run_once(), duty.run_once()] == [0, 0]

    with database.writing() as connection:
        connection.execute(insert(EVENTS), dict(row._mapping))

    assert duty.run_once() > 0
    whole = [*topic.sent]
    with database.writing() as connection:
        connection.execute(delete(EVENTS).where(newest))
    again = _Store()
    lost = replace(_of_executions(leader, stored, again), behind_max=1)
    assert lost.run_once() == 0
    assert lost.run_once() > 0
    assert again.sent[-1].record_id == whole[-1].record_id
    database.close()


def test_away_brokers_cost_nothing_but_time(leader: Leader, stored: Stored) -> None:
    topic = _Store(away=True)
    _changes(leader, "RUNNING", healthy=True)
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})
    supervisors, executions = _of_supervisors(leader, topic), _of_executions(leader, stored, topic)
    assert (supervisors.run_once(), executions.run_once()) == (0, 0)

    topic.away = False

    assert supervisors.run_once() == 1
    assert executions.run_once() > 0
    assert {*topic.outcomes} == {StoreOutcome.STORED}


def test_each_attempt_and_the_end_of_an_execution_are_reported(
    leader: Leader, stored: Stored
) -> None:
    topic = _Store()
    starts(stored, LOAD_AND_VERIFY, "nightly:1")
    good = Succeeded({"rows": 3, "text": "a\0b", "size": float("inf")})
    runs(stored, "nightly:1", {"load": [fails("no disk\nfor rows"), good]}, rounds=6)
    duty = _of_executions(leader, stored, topic)
    duty.run_once()
    steps = [(each.subject, each.attempt, each.status) for each in topic.sent]
    assert steps == [("nightly:1/load", 1, "FAILED"), ("nightly:1/load", 2, "SUCCESS")]
    assert topic.sent[0].payload["error"] == "no disk\nfor rows"
    assert topic.sent[0].worker == RUNNER.name
    assert topic.sent[1].payload["outputs"] == {"rows": 3, "text": "a\ufffdb", "size": "inf"}

    runs(stored, "nightly:1", {"verify": [Succeeded()]})
    duty.run_once()

    *_, report, result = topic.sent
    assert [each.type for each in topic.sent[2:]] == [
        RecordType.TASK_RESULT,
        RecordType.LOG_CHUNK,
        RecordType.TASK_REPORT,
        RecordType.TASK_RESULT,
    ]
    assert (result.subject, result.status, result.final) == ("nightly:1", "SUCCESS", True)
    assert result.record_id == execution_result_id("nightly:1")
    assert (result.payload["steps"], result.payload["attempts"]) == ({"SUCCESS": 2}, 3)
    steps_of = cast("list[dict[str, object]]", report.payload["steps"])
    assert [each["step"] for each in steps_of] == ["load", "verify"]
    text = str(topic.chunks[0].payload["text"])
    assert "ERROR   step load: attempt 1 ended FAILED at executor-1: http_500: no disk" in text
    assert "\n    for rows\n" in text
    assert text.endswith("the execution has ended: SUCCESS\n")
    assert [read_record(each.to_json().encode()) for each in topic.sent] == topic.sent
    assert duty.run_once() == 0


def test_steps_of_items_are_told_apart(leader: Leader, stored: Stored) -> None:
    topic = _Store()
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})

    _of_executions(leader, stored, topic).run_once()

    ones = [each for each in topic.sent if each.subject == "each:1/one"]
    assert sorted(str(each.payload["item"]) for each in ones) == ["0", "1", "2"]
    assert {*topic.outcomes} == {StoreOutcome.STORED}


def test_the_next_leader_sends_what_is_missing_and_no_more(leader: Leader, stored: Stored) -> None:
    topic = _Store()
    for number in range(5):
        starts(stored, EACH, f"each:{number}")
        runs(stored, f"each:{number}", {"one": [Succeeded()] * 3}, rounds=4)
        stored.now += timedelta(minutes=5)
    starts(stored, LOAD_AND_VERIFY, "nightly:waits")
    runs(stored, "nightly:waits", {}, rounds=1)
    _of_executions(leader, stored, topic, reports=topic.stored).run_once()
    with leader.reads() as tx:
        before = tx.archive.positions()[EXECUTION_REPORTS].sent_to
    sent = len(topic.sent)

    runs(stored, "nightly:waits", {"load": [Succeeded()], "verify": [Succeeded()]})
    starts(stored, EACH, "each:last")
    runs(stored, "each:last", {"one": [Succeeded()] * 3})
    again = _of_executions(leader, stored, topic, reports=topic.stored)
    again.run_once()
    again.run_once()

    new = {each.subject.partition("/")[0] for each in topic.sent[sent:]}
    assert new == {"nightly:waits", "each:last"}
    assert {*topic.outcomes} == {StoreOutcome.STORED}
    with leader.reads() as tx:
        assert tx.archive.positions()[EXECUTION_REPORTS].sent_to >= before


def test_a_death_between_log_and_result_repeats_what_is_stored(
    leader: Leader, stored: Stored
) -> None:
    topic = _Store()
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})

    def dies(_: str) -> None:
        raise KeyboardInterrupt

    duty = _of_executions(leader, stored, topic, reports=topic.stored)
    duty.reach = dies
    with pytest.raises(KeyboardInterrupt):
        duty.run_once()
    assert topic.stored.get(execution_result_id("each:1")) is None

    _of_executions(leader, stored, topic, reports=topic.stored).run_once()

    assert topic.stored.get(execution_result_id("each:1")) is not None
    assert StoreOutcome.MISMATCH not in topic.outcomes
    assert (
        topic.outcomes.count(StoreOutcome.CONFLICT) == topic.outcomes.count(StoreOutcome.STORED) - 1
    )


def test_the_list_is_read_in_parts(leader: Leader, stored: Stored) -> None:
    """Goal: a leader that begins with many executions has all of them, over several runs."""
    topic = _Store()
    for number in range(30):
        starts(stored, EACH, f"each:{number}")
        runs(stored, f"each:{number}", {"one": [Succeeded()] * 3}, rounds=3)
    duty = _of_executions(leader, stored, topic)
    duty.looks = 7

    rounds = 0
    while duty.run_once():
        rounds += 1

    assert rounds >= 4
    results = [each for each in topic.sent if each.final and each.type is RecordType.TASK_RESULT]
    assert sorted(each.subject for each in results) == sorted(f"each:{n}" for n in range(30))
    assert isinstance(topic.stored, MemoryReports)


def test_a_log_says_the_same_after_its_execution_was_deleted(
    leader: Leader, stored: Stored
) -> None:
    topic, logs = _Store(), MemoryLogStore()
    starts(stored, LOAD_AND_VERIFY, "nightly:1")
    runs(
        stored,
        "nightly:1",
        {"load": [fails("no disk\nfor rows"), Succeeded()], "verify": [Succeeded()]},
    )
    _of_executions(leader, stored, topic).run_once()
    chunks = [parts_of(each.to_json().encode()).chunk for each in topic.chunks]
    logs.put_many([each for each in chunks if each is not None])
    view = ExecutionLogs(stored.store, logs)

    def look() -> list[LogPart]:
        parts = [view.log("nightly:1", step, 0) for step in (None, "load", "verify")]
        return [*parts, view.log("nightly:1", None, -20)]

    before = look()
    assert stored.engine.purge(stored.now + timedelta(days=1), 0) == 1
    assert look() == before
    assert before[1].content.count(b" step load") == before[1].content.count(b"Z ") == 8
    assert b"\n    for rows\n" in before[1].content
    with pytest.raises(ExecutionNotFound):
        view.log("nightly:1", "lo", 0)
    with pytest.raises(ExecutionNotFound):
        view.log("nightly:2", None, 0)


def test_reports_say_the_same_after_their_execution_was_deleted(
    leader: Leader, stored: Stored
) -> None:
    topic = _Store()
    starts(stored, LOAD_AND_VERIFY, "nightly:1")
    load: list[Outcome] = [fails("no disk"), Succeeded({"rows": 3})]
    runs(stored, "nightly:1", {"load": load, "verify": [Succeeded()]})
    starts(stored, EACH, "each:1")
    runs(stored, "each:1", {"one": [Succeeded()] * 3})
    duty = _of_executions(leader, stored, topic)
    while duty.run_once():
        pass
    view = ExecutionReports(stored.store, topic.stored)

    def look() -> list[dict[str, object]]:
        nightly = [view.reports("nightly:1", step) for step in (None, "load", "verify")]
        return [*nightly, view.reports("each:1", None), view.reports("each:1", "one")]

    before = look()
    assert stored.engine.purge(stored.now + timedelta(days=1), 0) == 2
    assert look() == before
    step = cast("dict[str, dict[str, object]]", before[1]["executionStep"])["payload"]
    attempts = cast("list[dict[str, object]]", step["attempts"])
    assert [(each["attempt"], each["state"]) for each in attempts] == [
        (1, "FAILED"),
        (2, "SUCCESS"),
    ]
    for execution, name in (("nightly:1", "lo"), ("nightly:2", None), ("nightly:2", "load")):
        with pytest.raises(ExecutionNotFound):
            view.reports(execution, name)
