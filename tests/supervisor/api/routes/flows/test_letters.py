"""The API where executors run flows: letters are stored, and answers stay what they are."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import cast

import pytest
from fastapi import FastAPI

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.outbox import SqlOutbox
from supervisor.adapters.secrets import read_secret
from supervisor.core.executions.inputs import PauseIt
from supervisor.core.values.throttle import Lockout
from supervisor.executions.letter_engine import LetterEngine
from supervisor.executions.sequencer.letters import (
    LETTER_FORM,
    ExecutionGiven,
    ExecutionStart,
    Letter,
)
from supervisor.executions.triggers import TriggerEngine
from supervisor.services.flows.executions import FlowPorts
from supervisor.services.flows.services import flow_services_of
from supervisor.services.services import Services
from tests.supervisor.api.routes.flows.conftest import Running
from tests.supervisor.api.world import Json, World

_ASKS: Json = {"name": "ok", "type": "approve", "question": "go on?"}


@dataclass
class Lettered(Running):
    """A world whose executions live on topics; nobody sends or works in what is stored."""

    outbox: SqlOutbox
    triggers: TriggerEngine

    def letters(self) -> list[Letter]:
        """Return what is stored for the topics."""
        return [LETTER_FORM.read(each.body) for each in self.outbox.first(100)]

    def waits(self, execution: str) -> list[tuple[object, object]]:
        """Return what an execution waits for, and since when."""
        waits = cast("list[Json]", self.get(execution)["waitsFor"])
        return [(each["kind"], each["since"]) for each in waits]


@pytest.fixture
def lettered(world: World) -> Iterator[Lettered]:
    """An overlord that leads."""
    url = f"sqlite:///{world.database.with_name('executions.db')}"
    migrate_executions(url)
    state = cast("FastAPI", world.client.app).state
    parts: Services = state.parts
    store, term = parts.executions.executions, parts.leadership.term
    language, now = parts.flows.language, world.clock.now
    engine = LetterEngine(store, term, language, now, within_s=0)
    triggers = TriggerEngine(store, engine, term, language, now)
    ports = FlowPorts(store, engine, language, triggers, read_secret, Lockout(3, 60.0))
    services = flow_services_of(ports, parts.store, world.clock, parts.leadership)
    state.parts = replace(parts, flow_services=services)
    with closing(ExecutionDatabase(url)) as database:
        yield Lettered(world, SqlOutbox(database), triggers)


def test_a_start_is_answered_while_kafka_is_away_and_says_what_it_waits_for(
    lettered: Lettered,
) -> None:
    lettered.apply(flow="f", steps=[_ASKS])
    path = "/api/v1/flows/f/executions"

    first, again = (lettered.world.post(path, {"key": "one"}) for _ in range(2))

    assert (first.status_code, again.status_code) == (202, 200)
    execution = str(first.json()["id"])
    begun = lettered.get(execution)
    assert (begun["state"], lettered.waits(execution)) == (
        "CREATED",
        [("kafka", begun["createdAt"])],
    )
    [letter] = lettered.letters()
    assert isinstance(letter, ExecutionStart)
    assert letter.execution.id == execution
    lettered.outbox.drop_to(10)
    assert lettered.waits(execution) == [("executor", begun["createdAt"])]


def test_a_verb_is_a_letter_and_what_does_not_fit_is_refused_as_ever(lettered: Lettered) -> None:
    lettered.apply(flow="f", steps=[_ASKS])
    execution = lettered.start("f")
    path = f"/api/v1/executions/{execution}"

    paused = lettered.world.post(f"{path}/pause")
    again = lettered.world.post(f"{path}/pause")
    retried = lettered.world.post(f"{path}/runs/0a/retry")
    missing = lettered.world.post("/api/v1/executions/f:none/pause")

    assert [each.status_code for each in (paused, again, retried, missing)] == [
        200,
        409,
        409,
        404,
    ]
    assert again.json()["type"] == "/problems/step-refuses"
    given = lettered.letters()[1:]
    assert [type(each) for each in given] == [ExecutionGiven]
    assert isinstance(cast("ExecutionGiven", given[0]).given, PauseIt)
    other = lettered.world.post("/api/v1/flows/f/executions", {"key": execution[2:], "inputs": {}})
    assert other.status_code == 200, "it is known by its row"


def test_a_slot_fires_once_though_nobody_works_it_in(lettered: Lettered) -> None:
    """Goal: the firing and the letter are one commit, whatever Kafka does."""
    trigger = {"name": "hourly", "type": "schedule", "cron": "0 * * * *"}
    lettered.apply(flow="f", steps=[_ASKS], triggers=[trigger])
    lettered.world.clock.advance(timedelta(hours=1))

    lettered.world.leadership.step()
    lettered.triggers.run_due()
    lettered.triggers.run_due()

    [letter] = lettered.letters()
    assert isinstance(letter, ExecutionStart)
    assert letter.execution.trigger["type"] == "schedule"
