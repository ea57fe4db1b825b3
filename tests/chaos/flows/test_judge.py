"""The judge finds each trouble that it is there for."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import cast

import pytest

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.outbox import put_letters
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.sequencer.letters import RESULT_FORM
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import OutboxLetter
from tests.chaos.flows.judge import judge, rows_left, undrained
from tests.chaos.flows.work import HOLDERS_MAX, Called
from tests.environment.execution_topics import ReadRecord, TopicsOfTest
from tests.supervisor.adapters.executions.sink import Sink

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


class _Topics:
    """Records as they would be read."""

    def __init__(self) -> None:
        self.records: dict[LogTopic, list[ReadRecord]] = {each: [] for each in LogTopic}

    def read(self, topic: LogTopic) -> Sequence[ReadRecord]:
        return self.records[topic]

    def add(self, topic: LogTopic, key: str, value: bytes | None) -> None:
        some = self.records[topic]
        some.append(ReadRecord(0, len(some), key, value, {}))

    def event(self, key: str, number: int, name: str = "execution-ended") -> None:
        event = ExecutionEvent(number, NOON, name, about={"state": "SUCCESS"})
        self.add(LogTopic.RESULTS, key, RESULT_FORM.write(event))

    def position(self, following: int | None) -> None:
        value = json.dumps({"v": 1, "next": following}).encode()
        self.add(LogTopic.STATE, "@position", value)

    def run(self, name: str, state: str) -> None:
        value = json.dumps({"v": 1, "state": state}).encode()
        self.add(LogTopic.STATE, f"e/{name}/r/one", value)

    def head(self, name: str, version: int) -> None:
        self.add(LogTopic.STATE, f"e/{name}", json.dumps({"version": version}).encode())


@pytest.fixture
def topics() -> _Topics:
    """One execution that has ended well."""
    topics = _Topics()
    topics.event("e1", 1, "execution-began")
    topics.event("e1", 2)
    topics.head("e1", 1)
    topics.head("e1", 2)
    topics.add(LogTopic.STATE, "g/work", b'{"holders": ["e1"]}')
    topics.add(LogTopic.STATE, "g/work", None)
    topics.add(LogTopic.HISTORY, "e1", b"{}")
    topics.run("e1", "RUNNING")
    topics.run("e1", "SUCCESS")
    topics.position(1)
    return topics


def _troubles(topics: _Topics, called: Called | None = None) -> list[str]:
    calls = Called(Sink()) if called is None else called
    return judge(cast("TopicsOfTest", topics), calls, ["e1"]).troubles


def test_what_is_well_has_no_trouble(topics: _Topics) -> None:
    called = Called(Sink(), Counter({"e1/r1/1": 2, "e1/r2/1": 1}), Counter({"e1/r3/1": 1}))

    assert _troubles(topics, called) == []


def test_each_trouble_is_found(topics: _Topics) -> None:
    assert (
        "has not ended"
        in judge(cast("TopicsOfTest", topics), Called(Sink()), ["e1", "e2"]).troubles[0]
    )
    keyed = Called(Sink(), keyed=Counter({"e1/r1/1": 1, "e1/r1/2": 1}))
    assert _troubles(topics, keyed) == ["the step e1/r1 had 2 effects"]
    once = Called(Sink(), once=Counter({"e1/r3/1": 2}))
    assert "was sent 2 times" in _troubles(topics, once)[0]

    topics.head("e1", 2)
    assert _troubles(topics) == ["e1 went from version 2 to 2"]
    topics.records[LogTopic.STATE].pop()
    topics.add(LogTopic.STATE, "g/work", json.dumps({"holders": ["e1"]}).encode())
    assert "is held" in _troubles(topics)[0]
    topics.records[LogTopic.STATE].pop()
    many = [f"e{number}" for number in range(HOLDERS_MAX + 1)]
    topics.add(LogTopic.STATE, "g/work", json.dumps({"holders": many}).encode())
    topics.add(LogTopic.STATE, "g/work", None)
    assert _troubles(topics) == [f"gate work had {HOLDERS_MAX + 1} holders"]
    topics.records[LogTopic.STATE][-2:] = []
    topics.add(LogTopic.DEAD, "e1", b"no json")
    assert "1 dead letters" in _troubles(topics)[0]
    topics.records[LogTopic.DEAD].clear()

    topics.event("e1", 3)
    assert _troubles(topics) == ["e1 ended 2 times"]
    topics.event("e1", 5, "step-began")
    assert "are numbered [1, 2, 3, 5]" in _troubles(topics)[1]


def test_what_is_left_to_do_is_found(topics: _Topics) -> None:
    assert not undrained(cast("TopicsOfTest", topics))

    topics.add(LogTopic.HISTORY, "e1", b"{}")
    assert _troubles(topics) == ["partition 0: 1 inputs are behind its position"]
    topics.position(None)
    assert _troubles(topics) == ["partition 0: 2 inputs are behind its position"]
    topics.position(2)
    topics.run("e1", "SUBMITTED")
    assert _troubles(topics) == ["the task run one of e1 is SUBMITTED"]
    topics.run("e1", "KILLED")
    assert _troubles(topics) == []

    left = {"outbox": 2, "calls": 0, "claims": 1}
    verdict = judge(cast("TopicsOfTest", topics), Called(Sink()), ["e1"], left)
    assert verdict.troubles == ["2 rows are left in outbox", "1 rows are left in claims"]


@pytest.mark.pg
def test_rows_are_counted_where_executions_are(postgresql_database: str) -> None:
    migrate_executions(postgresql_database)
    assert set(rows_left(postgresql_database).values()) == {0}

    with closing(ExecutionDatabase(postgresql_database)) as database, database.writing() as opened:
        put_letters(opened, [OutboxLetter("e1", b"{}", NOON)])

    assert rows_left(postgresql_database) == {"outbox": 1, "calls": 0, "claims": 0}
