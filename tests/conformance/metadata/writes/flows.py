"""The audit entries of flows, executions and triggers, each overtaken once."""

import tempfile
from pathlib import Path

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.schema import LETTER_MARKS
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.adapters.secrets import read_secret
from supervisor.core.values.permissions import Actor
from supervisor.core.values.throttle import Lockout
from supervisor.executions.engine import StoredEngine
from supervisor.executions.triggers import TriggerEngine
from supervisor.reports.letters import MarkedLetters
from supervisor.services.flows.executions import FlowPorts, StartRequest
from supervisor.services.flows.executor import ExecutorPorts, ExecutorVerbs
from supervisor.services.flows.services import FlowServices, flow_services_of
from tests.conformance.metadata.writes.keys import Story
from tests.environment.memory_desk import MemoryDesk

_ANN = Actor.named("ann", None)
_FLOW = {
    "flow": "day",
    "steps": [{"name": "pack", "type": "noop"}],
    "triggers": [{"name": "nightly", "type": "schedule", "cron": "15 4 * * *", "timezone": "UTC"}],
}


def flows_are_used(story: Story) -> None:
    """A flow is applied and started; its trigger is paused."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'executions.db'}"
        migrate_executions(url)
        database = SqlExecutions(ExecutionDatabase(url))
        try:
            _flows_are_used(story, database)
        finally:
            database.close()


def _flows_are_used(story: Story, database: SqlExecutions) -> None:
    def services() -> FlowServices:
        """Return those of the present term: another one has another leadership."""
        clock, leadership, language = story.world.clock, story.world.leadership, CelExpressions()
        engine = StoredEngine(database, leadership.term, language, clock.now)
        triggers = TriggerEngine(database, engine, leadership.term, language, clock.now)
        ports = FlowPorts(database, engine, language, triggers, read_secret, Lockout(10, 60.0))
        return flow_services_of(ports, story.store, clock, leadership)

    story.does("apply flow", lambda: services().executions.flows.apply(_FLOW, _ANN))
    wanted = StartRequest("day", key="one")
    story.does("start", lambda: services().executions.start(wanted, _ANN))
    story.does("pause", lambda: services().triggers.pause("day", "nightly", _ANN))


def executions_are_projected(story: Story) -> None:
    """The tables of executions on Kafka are deleted, to be written anew."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'executions.db'}"
        migrate_executions(url)
        database, desk = ExecutionDatabase(url), MemoryDesk()
        letters = MarkedLetters(desk, SqlLetterMarks(database, LETTER_MARKS), story.world.clock.now)
        ports = ExecutorPorts(desk, letters, list, SqlProjection(database))

        def project() -> object:
            known = (story.store, story.world.clock, story.world.leadership)
            return ExecutorVerbs(ports, *known).project(_ANN)

        try:
            story.does("project executions", project)
        finally:
            database.close()
