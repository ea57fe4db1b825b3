"""The desk of executions on Kafka: partitions, dead letters, and the tables of the projection."""

from collections.abc import Mapping

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.kafka.desk import KafkaExecutionDesk, dead_inputs
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.schema import LETTER_MARKS
from supervisor.adapters.reports.letter_marks import SqlLetterMarks
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.clock import Clock
from supervisor.reports.letters import MarkedLetters
from supervisor.services.flows.executor import ExecutorPorts
from supervisor.settings.settings import Settings

__all__ = ["desk_of"]


def desk_of(
    settings: Settings, client: Mapping[str, str], database: ExecutionDatabase, clock: Clock
) -> ExecutorPorts:
    """Return what an overlord needs to show executions on Kafka; nothing connects yet.

    `client`: properties of librdkafka that say where and as whom.
    """
    topics, registry = ExecutionTopics(settings.executions_prefix), SqlExecutors(database)
    marks = SqlLetterMarks(database, LETTER_MARKS)

    return ExecutorPorts(
        KafkaExecutionDesk(client, topics, partition_of),
        MarkedLetters(dead_inputs(client, topics), marks, clock.now),
        registry.all,
        SqlProjection(database),
    )
