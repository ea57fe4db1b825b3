"""The composition root of `tidegate execution restore-topics`: tables and topics by settings."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.engine_choice import EngineChoice
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.kafka.kept import KeptTopics
from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.executions.kafka.preparing import remake_topics, topics_now
from supervisor.adapters.executions.kafka.starts import history_starts
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.restoring import SqlRestorableTables
from supervisor.app.brokers import execution_brokers
from supervisor.app.executions.calls import executions_url
from supervisor.core.executions.records import NewerRecord
from supervisor.executions.executor.registration import DEAD_S
from supervisor.executions.restoring import Restorable, RestoreRefused, TopicsRestore
from supervisor.ports.flows.engine_kinds import EngineKind
from supervisor.ports.flows.execution_log import (
    LogAborted,
    LogAway,
    LogFenced,
    LogRefuses,
    LogTooLarge,
    LogTopic,
)
from supervisor.ports.flows.restoring import HistoryStart
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import Settings

__all__ = ["TopicsHere", "topics_here"]

_SETTLES_S = 60.0
_PAUSE_S = 1.0
_AGAIN = "run the command again: what it has begun it writes once more"
_FORCE = (
    "start the executors: they go on with what the topics have.  Or say --force: each execution "
    "then becomes what the tables have of it, which may be older, and its steps since then are "
    "made again"
)


@dataclass(frozen=True)
class TopicsHere:
    """The topics and the tables that the settings of this process name.

    Each use raises `SetupProblem`: it is refused, or something does not answer.
    """

    client: Mapping[str, str]
    topics: ExecutionTopics
    database: ExecutionDatabase

    def look(self) -> Restorable:
        """Return what a restore would write; nothing is changed."""
        with _answered():
            ids, _ = topics_now(self.client, self.topics)
            restore = self._restore(ids, there=LogTopic.HISTORY in ids)
            return restore.look(has_state=LogTopic.STATE in ids)

    def write(self, *, force: bool) -> None:
        """Make what topics are missing, write their state, and let executors use them.

        `force`: also over a state that an owner has written.
        """
        with _answered():
            self._refuse_while_executors_live()
            remade = remake_topics(self.client, self.topics)
            ids = {each.of: each.topic_id for each in remade}
            _repeat(lambda: self._restore(ids, there=True).write(force=force))
            KeptTopics(self.database).replace(remade)

    def repair(self, execution: str, *, force: bool) -> None:
        """Write one execution anew; executors may run.  `force`: also one that can be read."""
        with _answered():
            ids, troubles = topics_now(self.client, self.topics)
            kept = KeptTopics(self.database).all()
            if troubles or {of: one.topic_id for of, one in kept.items()} != ids:
                why = "; ".join(troubles) or "the topics are not those in which executions began"
                raise RestoreRefused(f"{why}: restore all of them, without --execution")
            self._restore(ids, there=True).repair(execution, force=force)

    def _restore(self, ids: Mapping[LogTopic, str], *, there: bool) -> TopicsRestore:
        """Return a restore of topics with these ids; `there`: whether the history is."""
        EngineChoice(self.database, EngineKind.KAFKA, SystemClock()).look()
        kept = KeptTopics(self.database).all().get(LogTopic.HISTORY)
        if kept is None:
            raise RestoreRefused(
                "executions have not begun on Kafka: their database keeps no topics of theirs"
            )
        if there:
            is_new = kept.topic_id != ids[LogTopic.HISTORY]
            starts = history_starts(self.client, self.topics, new=is_new)
        else:
            starts = {number: HistoryStart() for number in range(self.topics.entities)}
        return TopicsRestore(
            SqlRestorableTables(self.database), self._log, starts, SystemClock().now
        )

    def _log(self, partition: int) -> KafkaPartitionLog:
        return KafkaPartitionLog(self.client, self.topics, partition)

    def _refuse_while_executors_live(self) -> None:
        living = [
            each.runner.name for each in SqlExecutors(self.database).all() if each.silent_s < DEAD_S
        ]
        if living:
            raise RestoreRefused(
                f"executors run: {', '.join(living)}.  Stop them; one that was killed counts as "
                f"running for {DEAD_S:.0f} s"
            )


def _repeat(write: Callable[[], None]) -> None:
    """Write again for a while: brokers refuse a topic for some seconds after they have made it."""
    until = time.monotonic() + _SETTLES_S
    while True:
        try:
            write()
        except (LogAborted, LogAway):
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


@contextmanager
def topics_here(settings: Settings) -> Iterator[TopicsHere]:
    """Open the database, and name the brokers.

    Raises:
        SetupProblem: they are not named.
    """
    client = execution_brokers(settings)
    if client is None:
        raise SetupProblem(
            "no brokers of executions are named", "set TIDEGATE_EXECUTIONS_KAFKA as executors do"
        )
    try:
        database = ExecutionDatabase(executions_url(settings))
    except ValueError as error:
        raise SetupProblem(str(error), "check TIDEGATE_EXECUTIONS_URL") from error
    with closing(database):
        yield TopicsHere(client, ExecutionTopics(settings.executions_prefix), database)


@contextmanager
def _answered() -> Iterator[None]:
    """Raise what the database and Kafka have as a problem with its remedy."""
    try:
        yield
    except RestoreRefused as error:
        fix = _FORCE if "has records" in str(error) else "nothing was changed"
        raise SetupProblem(str(error), fix) from error
    except (LogRefuses, StoreRefuses) as error:
        raise SetupProblem(str(error), "mend this, then run the command again") from error
    except NewerRecord as error:
        raise SetupProblem(str(error), "use the newest release of your executors") from error
    except (LogAborted, LogAway, LogFenced, LogTooLarge, StoreAway) as error:
        raise SetupProblem(str(error), _AGAIN) from error
