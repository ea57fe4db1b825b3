"""Flows at work in an overlord: store, engine, and the runner of this process."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.artifacts import SqlArtifacts
from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.engine_choice import EngineChoice
from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.relaying import KafkaHistoryWriter, kept_history
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.outbox import SqlOutbox
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.adapters.secrets import read_secret
from supervisor.app.brokers import execution_brokers
from supervisor.app.executions.calls import executions_url, outgoing_of, own_verbs
from supervisor.app.executions.desk import desk_of
from supervisor.control.leadership import Leadership
from supervisor.core.executions.entities import Runner
from supervisor.core.values.throttle import Lockout
from supervisor.executions.artifacts import with_artifacts
from supervisor.executions.engine import StoredEngine
from supervisor.executions.engine_term import EngineTerm
from supervisor.executions.flow_engine import FlowEngine
from supervisor.executions.flow_watch import FlowWatch
from supervisor.executions.letter_engine import LetterEngine
from supervisor.executions.relay import HistoryRelay
from supervisor.executions.runner import CallRunner
from supervisor.executions.triggers import TriggerEngine
from supervisor.ports.clock import Clock
from supervisor.ports.flows.artifacts import ArtifactStore
from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.ports.flows.outbox import HistoryWriter
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.services.flows.calls import OutgoingRules
from supervisor.services.flows.executions import FlowPorts
from supervisor.services.flows.executor import ExecutorPorts
from supervisor.services.steps.product import StepVerbs, verbs_to_leave
from supervisor.settings.settings import Settings

__all__ = [
    "ExecutionParts",
    "engine_kind",
    "executions_in",
    "try_executions",
]

log = structlog.get_logger()


def engine_kind(settings: Settings) -> EngineKind:
    """Return the engine that is set."""
    return EngineKind.SQL if settings.executions_kafka is None else EngineKind.KAFKA


def try_executions(settings: Settings) -> None:
    """Read from the database of executions.

    Raises:
        StoreMissing: there is none yet.
        EngineRefused: executions live on the engine that is not set.
        StoreAway: it does not answer.
        StoreRefuses: it has another schema, or refuses the login, or its URL is none.
    """
    try:
        database = ExecutionDatabase(executions_url(settings))
    except ValueError as error:
        raise StoreRefuses(str(error)) from None
    try:
        EngineChoice(database, engine_kind(settings), SystemClock()).look()
    finally:
        database.close()


@dataclass
class ExecutionParts:
    """The parts of one overlord process that run flows, or let executors run them."""

    url: str
    store: SqlExecutions
    choice: EngineChoice
    engine: FlowEngine
    triggers: TriggerEngine
    lockout: Lockout
    runner: CallRunner | None
    """None: executors make the calls."""
    relay: HistoryRelay | None
    """None: there are no topics."""
    desk: ExecutorPorts | None
    """None: there are no topics."""
    artifacts: ArtifactStore
    language: CelExpressions = field(default_factory=CelExpressions)
    outgoing: OutgoingRules | None = None
    """None: executors make the calls."""

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
            self.look,
            self.desk,
            self.outgoing,
        )

    @property
    def step_runner(self) -> Runner | None:
        """The runner of this process; None: it has none."""
        return None if self.runner is None else self.runner.runner

    def watch(self, clock: Clock) -> FlowWatch:
        """Return a watch of what somebody should know."""
        relay = self.relay
        trouble = None if relay is None else lambda: relay.trouble
        dead = None if self.desk is None else self.desk.letters.waiting
        return FlowWatch(self.store, clock, self.choice.look, trouble, dead)

    def look(self) -> None:
        """Go on at once: something has begun, or this overlord leads now."""
        if self.runner is not None:
            self.runner.look()
        if self.relay is not None:
            self.relay.nudge()

    def add_verbs(self, verbs: StepVerbs) -> None:
        """Let the runner make more verbs, before it starts."""
        if self.runner is not None:
            more = with_artifacts(verbs, self.artifacts)
            self.runner.verbs = {**self.runner.verbs, **more}
            self.runner.leaves = verbs_to_leave(verbs)

    def start(self) -> None:
        """Migrate the database, and begin to make calls; without a database flows wait."""
        try:
            migrate_executions(self.url)
            self.choice.look()
        except (StoreAway, StoreRefuses) as error:
            log.warning("flows cannot run", why=str(error))
        if self.runner is not None:
            self.runner.start()
        if self.relay is not None:
            self.relay.start()

    def stop(self) -> None:
        """End the calls of this process, and close the database."""
        if self.runner is not None:
            self.runner.stop()
        if self.relay is not None:
            self.relay.stop()
        self.store.close()


def executions_in(
    settings: Settings,
    name: str,
    leadership: Leadership,
    clock: Clock,
    failpoint: Callable[[str], None] = lambda _: None,
) -> ExecutionParts:
    """Return the parts for an overlord; nothing connects yet.  `name`: of its runner, in lists.

    Raises:
        SetupProblem: the brokers are named by a file that cannot be used.
    """
    url, language = executions_url(settings), CelExpressions()
    database = ExecutionDatabase(url)
    store = SqlExecutions(database)
    choice = EngineChoice(database, engine_kind(settings), clock)
    term = EngineTerm(leadership.term, choice.take)
    engine: FlowEngine
    runner: CallRunner | None = None
    artifacts = SqlArtifacts(database, clock)
    relay: HistoryRelay | None = None
    desk: ExecutorPorts | None = None
    client = execution_brokers(settings)
    if client is None:
        stored = StoredEngine(store, term, language, clock.now)
        engine, runner = stored, _runner_of(settings, stored, name, artifacts)
    else:
        relay = _relay_of(settings, client, database, term, failpoint)
        desk = desk_of(settings, client, database, clock)
        engine = LetterEngine(store, term, language, clock.now, relay.nudge, relay.is_away)
    triggers = TriggerEngine(store, engine, term, language, clock.now)
    lockout = Lockout(settings.lockout_failures, settings.lockout.total_seconds())
    return ExecutionParts(
        url,
        store,
        choice,
        engine,
        triggers,
        lockout,
        runner=runner,
        relay=relay,
        desk=desk,
        artifacts=artifacts,
        language=language,
        outgoing=outgoing_of(settings) if client is None else None,
    )


def _runner_of(
    settings: Settings, engine: StoredEngine, name: str, artifacts: ArtifactStore
) -> CallRunner:
    verbs = with_artifacts(own_verbs(settings), artifacts)
    return CallRunner(
        engine, Runner(name, secrets.token_hex(8)), verbs, settings.executions_threads
    )


def _relay_of(
    settings: Settings,
    client: Mapping[str, str],
    database: ExecutionDatabase,
    term: EngineTerm,
    failpoint: Callable[[str], None],
) -> HistoryRelay:
    topics, kept = ExecutionTopics(settings.executions_prefix), KeptTopics(database)

    def new_writer() -> HistoryWriter:
        kept_history(kept, topics)
        return KafkaHistoryWriter(client, topics)

    return HistoryRelay(SqlOutbox(database), new_writer, topics.entities, term, failpoint)
