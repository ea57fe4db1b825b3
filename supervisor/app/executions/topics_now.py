"""The topics of executions as their brokers describe them now; what doctor judges by."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.kept import KeptTopic, KeptTopics
from supervisor.adapters.executions.kafka.preparing import look_at_topics
from supervisor.adapters.executions.kafka.topics import ExecutionTopics
from supervisor.app.brokers import execution_brokers
from supervisor.app.executions.calls import executions_url
from supervisor.ports.flows.execution_log import LogTopic
from supervisor.ports.store_problems import StoreAway, StoreRefuses
from supervisor.settings.settings import Settings

__all__ = ["TopicsNow", "execution_topics"]


@dataclass(frozen=True)
class TopicsNow:
    """What is not there, and what is wrong, in words with the command that mends it."""

    missing: Sequence[str]
    troubles: Sequence[str]


def execution_topics(settings: Settings) -> TopicsNow | None:
    """Look at the topics, and change nothing; None: no brokers are named.

    Raises:
        SetupProblem: the setting names a file of client properties that cannot be used.
        LogAway, LogRefuses: the brokers do not answer, or refuse to.
    """
    client = execution_brokers(settings)
    if client is None:
        return None
    topics = ExecutionTopics(settings.executions_prefix)
    return TopicsNow(*look_at_topics(client, topics, _kept(settings)))


def _kept(settings: Settings) -> Mapping[LogTopic, KeptTopic]:
    """Return the topics as they were; nothing without a database, which has a check of its own."""
    try:
        with closing(ExecutionDatabase(executions_url(settings))) as database:
            return KeptTopics(database).all()
    except (ValueError, StoreAway, StoreRefuses):
        return {}
