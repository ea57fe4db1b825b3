"""Flows at work in an overlord: store, engine, and the runner of this process."""

import secrets
from dataclasses import dataclass, field
from threading import Event

import structlog

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.http.call import HttpCalls
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.adapters.secrets import read_secret
from supervisor.control.leadership import Leadership
from supervisor.core.executions.entities import Runner
from supervisor.core.executions.inputs import Outcome, Succeeded
from supervisor.core.executions.reduced import StepCall
from supervisor.core.values.throttle import Lockout
from supervisor.database.engine import sqlite_file
from supervisor.executions.engine import StoredEngine
from supervisor.executions.runner import CallRunner, StepVerb
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.store import Clock
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.services.flows.executions import FlowPorts
from supervisor.services.steps.product import StepVerbs
from supervisor.settings.settings import Settings

__all__ = ["ExecutionParts", "executions_in", "executions_url", "make_noop", "try_executions"]

log = structlog.get_logger()


def executions_url(settings: Settings) -> str:
    """Return the URL of the database of executions."""
    if settings.executions_url is not None:
        return settings.executions_url
    file = sqlite_file(settings.metadata_url)
    if file is None:
        return settings.metadata_url
    # One writer at a time on SQLite: a step would make a publish wait.
    return f"sqlite:///{file.with_name('executions.db')}"


def try_executions(settings: Settings) -> None:
    """Read from the database of executions.

    Raises:
        StoreMissing: there is none yet.
        StoreAway: it does not answer.
        StoreRefuses: it has another schema, or refuses the login, or its URL is none.
    """
    try:
        database = ExecutionDatabase(executions_url(settings))
    except ValueError as error:
        raise StoreRefuses(str(error)) from None
    try:
        with database.reading():
            pass
    finally:
        database.close()


@dataclass
class ExecutionParts:
    """The parts of one overlord process that run flows."""

    url: str
    store: SqlExecutions
    engine: StoredEngine
    runner: CallRunner
    triggers: TriggerEngine
    lockout: Lockout
    language: CelExpressions = field(default_factory=CelExpressions)

    @property
    def ports(self) -> FlowPorts:
        """What services need."""
        return FlowPorts(
            self.store,
            self.engine,
            self.language,
            self.triggers,
            read_secret,
            self.lockout,
            self.runner.look,
        )

    def add_verbs(self, verbs: StepVerbs) -> None:
        """Let the runner make more verbs, before it starts."""
        self.runner.verbs = {**self.runner.verbs, **verbs}

    def start(self) -> None:
        """Migrate the database, and begin to make calls; without a database flows wait."""
        try:
            migrate_executions(self.url)
        except (StoreAway, StoreRefuses) as error:
            log.warning("flows cannot run", why=str(error))
        self.runner.start()

    def stop(self) -> None:
        """End the calls of this process, and close the database."""
        self.runner.stop()
        self.store.close()


def executions_in(
    settings: Settings, name: str, leadership: Leadership, clock: Clock
) -> ExecutionParts:
    """Return the parts for an overlord; nothing connects yet.  `name`: of its runner, in lists."""
    url, language = executions_url(settings), CelExpressions()
    store = SqlExecutions(ExecutionDatabase(url))
    engine = StoredEngine(store, leadership.term, language, clock.now)
    runner = Runner(name, secrets.token_hex(8))
    allow = [entry.lower() for entry in settings.http_allow]
    http = HttpCalls(allow, read_secret, settings.connections().bindings, settings.trust())
    verbs: dict[str, StepVerb] = {"noop": make_noop, "http": http}
    calls = CallRunner(engine, runner, verbs, settings.executions_threads)
    triggers = TriggerEngine(store, engine, leadership.term, language, clock.now)
    lockout = Lockout(settings.lockout_failures, settings.lockout.total_seconds())
    return ExecutionParts(url, store, engine, calls, triggers, lockout, language)


def make_noop(_: StepCall, __: Event) -> Outcome:
    """Do nothing, with success."""
    return Succeeded()
