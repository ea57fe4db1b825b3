"""The composition root of an executor: from settings to topics, a runner, and an HTTP server."""

import re
import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.artifacts import SqlArtifacts
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.engine_choice import EngineChoice
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.http.remote import RemoteVerb
from supervisor.adapters.executions.kafka.feed import KafkaProjectionFeed
from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.members import GroupMember
from supervisor.adapters.executions.kafka.preparing import prepare_topics
from supervisor.adapters.executions.kafka.sender import HistorySender
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.result_files import ResultFiles
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.adapters.expressions import CelExpressions
from supervisor.api.executor.server import create_executor_api
from supervisor.app.brokers import execution_brokers
from supervisor.app.executions.calls import executions_url, own_verbs
from supervisor.app.listening import new_server, tls_of
from supervisor.app.process import configure_logging, data_folder, listen
from supervisor.app.serving import ServedPort, serve
from supervisor.core.executions.entities import Execution, Runner
from supervisor.core.flows.children import CalledFlow
from supervisor.executions.artifacts import LargeOutputs, with_artifacts
from supervisor.executions.engine import newest_flow
from supervisor.executions.executor.abroad import CallsAbroad
from supervisor.executions.executor.losses import LossWatch
from supervisor.executions.executor.registration import Registration
from supervisor.executions.executor.results import WaitingResults
from supervisor.executions.executor.service import Executor, ExecutorParts
from supervisor.executions.projector import Projector
from supervisor.executions.runner import CallRunner
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.both import OwnersAndProjector
from supervisor.executions.sequencer.counts import OwnerCounts
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.executions.sequencer.owners import PartitionOwners
from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.ports.flows.executions import HeldCall
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import EXECUTOR_PORT, Settings
from tasks.runtime.http_guard import raise_file_limit

__all__ = ["executing", "run_executor"]

log = structlog.get_logger()

_QUICK = frozenset({"noop"})
"""Verbs that do nothing: to make one in a thread would take longer."""


def run_executor(settings: Settings) -> int:
    """Run flows on Kafka until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: a port, a setting, or the topics as they are prevent the start.
    """
    configure_logging(form=settings.log_format)
    raise_file_limit()
    with executing(settings) as (role, executor):
        code = serve({role.server: role.bound}, lambda: None, executor.ended)
    if executor.refused:
        raise SetupProblem(
            executor.refused, "then start the executor again; docs/reference/execution-topics.md"
        )
    return code


@contextmanager
def executing(settings: Settings) -> Iterator[tuple[ServedPort, Executor]]:
    """Run an executor as long as its block runs; its port is for the block to serve.

    Raises:
        SetupProblem: a port or a setting prevents the start.
    """
    client = execution_brokers(settings)
    if client is None:
        raise SetupProblem(
            "an executor runs flows on Kafka, and no brokers are named",
            "set TIDEGATE_EXECUTIONS_KAFKA here and for the overlords, or run no executor: without "
            "it the overlord that leads runs flows in its database",
        )
    data_folder(settings.data_dir)
    tls = tls_of(settings)
    bound = listen(settings.host, settings.port or EXECUTOR_PORT)
    parts = _Wiring(settings, client)
    executor = parts.executor()
    executor.start()
    log.info("executor", url=parts.url, topics=settings.executions_kafka)
    try:
        api = create_executor_api(executor, SystemClock())
        yield ServedPort(new_server(api, settings, tls), bound), executor
    finally:
        executor.stop()
        parts.database.close()


class _Wiring:
    """Puts the parts of one process together; nothing connects."""

    def __init__(self, settings: Settings, client: Mapping[str, str]) -> None:
        self._settings = settings
        self._client = client
        self._topics = ExecutionTopics(settings.executions_prefix)
        self._plan = PartitionPlan(self._topics.entities, self._topics.calls)
        self._language = CelExpressions()
        self._counts = OwnerCounts()
        self.url = settings.url(EXECUTOR_PORT)
        self._runner = Runner(settings.executor_name or _name(settings), secrets.token_hex(8))
        try:
            self.database = ExecutionDatabase(executions_url(settings))
        except ValueError as error:
            raise SetupProblem(str(error), "check TIDEGATE_EXECUTIONS_URL") from error
        self._store = SqlExecutions(self.database)
        self._calls: CallRunner | None = None

    def executor(self) -> Executor:
        """Return the executor; it has not begun."""
        owners = PartitionOwners(self._new_owner)
        sender = HistorySender(self._client, self._topics)
        engine = PartitionedEngine(owners, self._plan, sender.send, quick=_QUICK)
        self._calls = self._new_runner(engine)
        projector = Projector(
            lambda: KafkaProjectionFeed(self._client, self._topics), SqlProjection(self.database)
        )
        both = OwnersAndProjector(owners, projector)
        folder = self._settings.data_dir / "results" / self._runner.name
        results = WaitingResults(
            self._calls, ResultFiles(folder, self._runner.incarnation), self._shown
        )
        member = GroupMember(self._client, self._topics, both)
        calls = self._calls
        registration = Registration(
            SqlExecutors(self.database),
            self._runner,
            self.url,
            lambda: sorted(owners.working()),
            makes=lambda: calls.makes,
            offers=results.offers,
        )
        return Executor(
            ExecutorParts(
                self._prepare,
                owners,
                member,
                self._calls,
                registration,
                LossWatch(engine, registration),
                CallsAbroad(self._held, engine.is_here, self._calls, engine.forward),
                self._counts,
                projector,
                results,
            )
        )

    def _prepare(self) -> None:
        EngineChoice(self.database, EngineKind.KAFKA, SystemClock()).look()
        prepare_topics(self._client, self._topics, KeptTopics(self.database))

    def _new_runner(self, engine: PartitionedEngine) -> CallRunner:
        settings = self._settings
        remote = RemoteVerb(settings.overlords, settings.token(), settings.trust())
        artifacts = SqlArtifacts(self.database, SystemClock())
        return CallRunner(
            engine,
            self._runner,
            with_artifacts(own_verbs(settings), artifacts),
            settings.executions_threads,
            others=LargeOutputs(remote, artifacts),
            quick=_QUICK,
        )

    def _new_owner(self, partition: int) -> PartitionOwner:
        assert self._calls is not None, "the runner is there before anything is owned"
        return PartitionOwner(
            partition,
            self._plan,
            KafkaPartitionLog(self._client, self._topics, partition),
            self._language,
            self._flow_of,
            now=SystemClock().now,
            writer=self._runner.name,
            counts=self._counts,
            on_calls=self._calls.look,
        )

    def _held(self, runner: Runner) -> Sequence[HeldCall]:
        with self._store.reading() as rows:
            return rows.held(runner)

    def _shown(self, execution: str) -> Execution | None:
        with self._store.reading() as rows:
            return rows.execution(execution)

    def _flow_of(self, name: str) -> CalledFlow | None:
        with self._store.reading() as rows:
            return newest_flow(rows.flows, name)


def _name(settings: Settings) -> str:
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
    return f"executor-{host}-{settings.port or EXECUTOR_PORT}"
