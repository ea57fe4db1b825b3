"""A group of readers on the shared broker: persisters within the process of a test."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from supervisor.adapters.kafka.record_feed import FeedOptions, KafkaFeed
from supervisor.core.reports.status import BackOff
from supervisor.ports.reports.reports import ReportQuery
from supervisor.reports.intake import Intake, IntakeOptions
from supervisor.reports.pipeline import Pipeline, PipelineOptions
from supervisor.reports.storing import Storing
from tests.environment.brokers import create_topic
from tests.supervisor.reports.shelves import Shelves

__all__ = ["QUICK", "QUICK_PIPE", "GroupMember", "ReaderGroup"]

_NUMBERS = count()
QUICK = IntakeOptions(poll_s=0.02, commit_s=0.1)
QUICK_PIPE = PipelineOptions(writers=2, back_off=BackOff(0.01, 0.02))


class ReaderGroup:
    """Topics and a group of their own on the shared broker, and the persisters in it."""

    def __init__(self, bootstrap: str) -> None:
        """Over the brokers at `bootstrap`."""
        self.bootstrap = bootstrap
        self.prefix = f"intake{next(_NUMBERS)}-"
        self.shelves = Shelves()
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def topic(
        self,
        name: str = "completed.default",
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic, and return its name."""
        topic = f"{self.prefix}{name}"
        create_topic(self.bootstrap, topic, partitions=partitions, config=dict(config or {}))
        return topic

    def persister(
        self,
        instance: str = "p-1",
        options: IntakeOptions = QUICK,
        storing: Storing | None = None,
        pipe: PipelineOptions = QUICK_PIPE,
    ) -> "GroupMember":
        """Prepare a member of the group."""
        feed = KafkaFeed(
            FeedOptions(
                {"bootstrap.servers": self.bootstrap},
                pattern=f"{self.prefix}completed[.-].*",
                group=f"{self.prefix}persister",
                instance=f"{self.prefix}{instance}",
                session_s=6.0,
                refresh_s=0.5,
            )
        )
        pipeline = Pipeline(storing or self.shelves.storing(), pipe)
        return GroupMember(feed, pipeline, Intake(feed, pipeline, options))

    def stored(self) -> set[str]:
        """Return the subjects that are on the shelves."""
        return {each.subject for each in self.shelves.reports.list(ReportQuery(), 10_000)}

    def committed(self, topic: str, partition: int = 0) -> int:
        """Return the committed offset; below 0: there is none, or it is not known now."""
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap, "group.id": f"{self.prefix}persister"}
        )
        try:
            (at,) = consumer.committed([TopicPartition(topic, partition)], 30.0)
        except KafkaException:  # the broker still looks for the group's coordinator
            return -1
        else:
            return at.offset
        finally:
            consumer.close()

    def delete_below(self, topic: str, offset: int) -> None:
        """Delete the first records of partition 0, as retention does."""
        wanted = self._admin.delete_records([TopicPartition(topic, 0, offset)])
        for each in wanted.values():
            each.result(30.0)


class GroupMember:
    """One member of the group."""

    def __init__(self, feed: KafkaFeed, pipeline: Pipeline, intake: Intake) -> None:
        """Of these parts."""
        self.feed, self.pipeline, self.intake = feed, pipeline, intake

    @contextmanager
    def running(self) -> Iterator["GroupMember"]:
        """Run it as long as the block."""
        self.pipeline.start()
        self.intake.start()
        try:
            yield self
        finally:
            self.intake.stop(30.0)
            self.pipeline.stop(30.0)
