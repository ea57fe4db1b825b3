"""Executions on Kafka as a whole: partitions, the tables written anew, and dead letters."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.schema import LETTER_MARKS
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.core.executions.entities import Runner
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.flows.executors import ExecutorDoing, ExecutorRow
from supervisor.ports.flows.projection import ProjectionStep
from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.reports.letters import MarkedLetters
from supervisor.services.flows.executor import ExecutorPorts
from supervisor.services.services import Services
from tests.environment.memory_desk import MemoryDesk
from tests.supervisor.api.world import World

_EXECUTOR = "/api/v1/executor"
_DEAD = f"{_EXECUTOR}/dead"


@dataclass
class OnKafka:
    """An overlord whose executions run on Kafka."""

    world: World
    topics: MemoryDesk
    projection: SqlProjection
    executors: list[ExecutorRow]

    def get(self, path: str, status: int = 200) -> dict[str, Any]:
        """GET below the executor."""
        response = self.world.client.get(f"{_EXECUTOR}{path}")
        assert response.status_code == status, response.text
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture
def kafka(world: World) -> Iterator[OnKafka]:
    """Two partitions, and three letters of which one has lost its value."""
    app = world.client.app
    executors = [
        ExecutorRow(Runner("executor-1", "a"), "http://e-1:8093", ExecutorDoing([0]), 1.0),
    ]
    assert isinstance(app, FastAPI)
    parts: Services = app.state.parts
    url = f"sqlite:///{world.database.with_name('executions.db')}"
    migrate_executions(url)
    topics = MemoryDesk(
        [
            DeadLetter(b"day:mon", b"no json", "history", 1, 40, "it is no JSON"),
            DeadLetter(b"day:tue", b"", "history", 1, -1, "too large"),
            DeadLetter(None, b"x" * (MemoryDesk.largest + 1), "history", 0, 3, "internal"),
        ]
    )
    with closing(SqlProjection(database := ExecutionDatabase(url))) as projection:
        marks = SqlLetterMarks(database, LETTER_MARKS)
        letters = MarkedLetters(topics, marks, world.clock.now)
        ports = ExecutorPorts(topics, letters, lambda: executors, projection)
        verbs = replace(parts.executor, ports=ports)
        services = replace(parts.flow_services, executor=verbs)
        app.state.parts = replace(parts, flow_services=services)
        yield OnKafka(world, topics, projection, executors)


def test_partitions_have_an_owner_a_position_and_how_far_the_tables_are(kafka: OnKafka) -> None:
    kafka.projection.project([ProjectionStep((LogTopic.STATE, 0), None, 28)])

    answer = kafka.get("")

    [executor] = answer.pop("executors")
    assert (executor["name"], executor["state"], executor["partitions"]) == (
        "executor-1",
        "RUNNING",
        [0],
    )
    assert answer == {
        "engine": "kafka",
        "deadLetters": 3,
        "partitions": [
            {"partition": 0, "owner": "executor-1", "position": 7, "lag": 2, "projectionLag": 2},
            {"partition": 1, "owner": None, "position": None, "lag": 0, "projectionLag": 0},
        ],
    }


def test_an_executor_that_is_silent_owns_nothing_and_is_listed_for_a_day(kafka: OnKafka) -> None:
    calls = [CallPlace("day:mon", "pack", 2), CallPlace("day:tue", "runs", 1, 3)]
    waiting = ExecutorDoing([1], calls, "no broker answers")
    kafka.executors[:] = [
        ExecutorRow(Runner("gone", "a"), "", ExecutorDoing([0]), 90_000.0),
        ExecutorRow(Runner("silent", "a"), "", ExecutorDoing([0]), 60.0),
        ExecutorRow(Runner("waiting", "a"), "http://e-2:8093", waiting, 2.0),
    ]

    answer = kafka.get("")

    assert [each["owner"] for each in answer["partitions"]] == [None, "waiting"]
    silent, other = answer["executors"]
    assert (silent["name"], silent["state"], silent["partitions"]) == ("silent", "SILENT", [0])
    heard_at = datetime.fromisoformat(silent["heardAt"])
    assert kafka.world.clock.now() - heard_at == timedelta(seconds=60)
    assert (other["state"], other["reason"]) == ("WAITING", "no broker answers")
    assert other["makes"] == [
        {"execution": "day:mon", "run": "pack", "attempt": 2, "look": 0},
        {"execution": "day:tue", "run": "runs", "attempt": 1, "look": 3},
    ]


def test_the_tables_are_written_anew_by_request(kafka: OnKafka) -> None:
    kafka.projection.project([ProjectionStep((LogTopic.STATE, 0), None, 28)])

    answer = kafka.world.post(f"{_EXECUTOR}/project?reason=restored")

    assert (answer.status_code, answer.json()) == (200, {"deleted": 0})
    assert kafka.projection.positions() == {}
    assert [each["reason"] for each in _audited(kafka.world, "project-executions")] == ["restored"]


def test_a_dead_letter_is_sent_once_more_or_dropped_and_both_are_audited(kafka: OnKafka) -> None:
    page = kafka.get("/dead?limit=2")
    assert [each["offset"] for each in page["letters"]] == [2, 1]
    rest = kafka.get(f"/dead?before={page['next']}")
    [letter] = rest["letters"]
    assert letter == kafka.get("/dead/0")
    assert (letter["execution"], letter["body"], letter["position"]) == ("day:mon", "no json", 40)

    for _ in range(2):
        answer = kafka.world.post(f"{_DEAD}/0/replay?sha256={letter['sha256']}")
        assert answer.json()["handled"]["outcome"] == "stored"
    dropped = kafka.world.client.delete(f"{_DEAD}/1?reason=a+test").json()

    assert kafka.topics.sent == [(b"day:mon", b"no json")], "the second time changes nothing"
    assert (dropped["handled"]["outcome"], dropped["handled"]["reason"]) == ("dropped", "a test")
    assert [each["offset"] for each in kafka.get("/dead")["letters"]] == [2]
    assert kafka.get("")["deadLetters"] == 1
    assert _audited(kafka.world, "replay-dead-input")
    assert [each["reason"] for each in _audited(kafka.world, "drop-dead-input")] == ["a test"]


@pytest.mark.parametrize(
    ("path", "status", "problem"),
    [
        ("1/replay", 409, "letter-unusable"),
        ("2/replay", 409, "letter-unusable"),
        ("9/replay", 404, "letter-not-found"),
        (f"0/replay?sha256={'0' * 64}", 409, "letter-changed"),
    ],
)
def test_what_cannot_be_sent_once_more_is_refused(
    kafka: OnKafka, path: str, status: int, problem: str
) -> None:
    answer = kafka.world.post(f"{_DEAD}/{path}")

    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{problem}")
    assert kafka.get("")["deadLetters"] == 3


def test_kafka_that_does_not_answer_is_said(kafka: OnKafka) -> None:
    kafka.topics.away = True

    answer = kafka.get("", 503)
    assert answer["type"] == "/problems/execution-topics-unavailable"
    assert kafka.world.post(f"{_DEAD}/0/replay").status_code == 503
    assert kafka.get("/dead/0")["handled"] is None


def test_executions_in_the_database_have_no_partitions(world: World) -> None:
    assert world.get_object(_EXECUTOR) == {
        "engine": "sql",
        "executors": [],
        "partitions": [],
        "deadLetters": 0,
    }
    for path in ("/dead", "/dead/3"):
        answer = world.get_object(f"{_EXECUTOR}{path}", 404)
        assert answer["type"] == "/problems/no-execution-topics"


def _audited(world: World, action: str) -> list[Any]:
    entries = world.client.get("/api/v1/audit").json()["entries"]
    return [each for each in entries if each["action"] == action]
