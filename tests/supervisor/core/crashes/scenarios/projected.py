"""The engine over Kafka's topics, read from the tables that a projector writes."""

from supervisor.adapters.executions.database import ExecutionDatabase
from supervisor.adapters.executions.kafka.feed import KafkaProjectionFeed
from supervisor.adapters.executions.projecting import SqlProjection
from supervisor.adapters.executions.store import SqlExecutions
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.reduced import ExecutionEvent
from supervisor.executions.projector import ProjectionLoop
from supervisor.ports.flows.execution_log import LogTopic
from tests.environment.execution_topics import TopicsOfTest
from tests.supervisor.core.crashes.scenarios.on_kafka import OnKafka
from tests.waiting import wait_until

_ALL = 100_000


class Projected(OnKafka):
    """Implements `EngineInTest`; what is asked of it is asked of the tables."""

    def __init__(self, topics: TopicsOfTest, url: str) -> None:
        """Open a database that is migrated and empty."""
        super().__init__(topics)
        self.projection = SqlProjection(ExecutionDatabase(url))
        self.store = SqlExecutions(ExecutionDatabase(url))
        self.loop = self.new_loop()

    def new_loop(self) -> ProjectionLoop:
        """Return a projector's steps that have not begun."""
        feed = KafkaProjectionFeed(self.topics.client, self.topics.topics)
        return ProjectionLoop(feed, self.projection)

    def project(self) -> None:
        """Let the tables catch up with all that is committed."""
        wanted = {topic: self.topics.read(topic) for topic in (LogTopic.STATE, LogTopic.RESULTS)}
        ends = {topic: some[-1].offset + 1 for topic, some in wanted.items() if some}

        def is_there() -> bool:
            self.loop.follow(frozenset({0}))
            self.loop.turn(0.01)
            opened = self.loop.open.get(0)
            return (
                opened is not None
                and opened.state.done >= ends.get(LogTopic.STATE, 0)
                and opened.results.done >= ends.get(LogTopic.RESULTS, 0)
            )

        wait_until(is_there)

    def get(self, execution: str) -> Execution:
        """Return an execution as the tables have it."""
        self.project()
        with self.store.reading() as rows:
            stored = rows.execution(execution)
        assert stored is not None
        return stored

    def events(self, execution: str) -> list[ExecutionEvent]:
        """Return every event of an execution that the tables have."""
        self.project()
        with self.store.reading() as rows:
            return list(rows.events(execution, 0, _ALL))

    def restart(self) -> None:
        """Let another owner begin, and another projector."""
        super().restart()
        self.loop.close()
        self.loop = self.new_loop()

    def close(self) -> None:
        """Close every connection."""
        self.loop.close()
        self.store.close()
        self.projection.close()
        super().close()
