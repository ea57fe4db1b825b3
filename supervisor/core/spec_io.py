"""Where to read and how to divide the reading: the `ioConfig` of a spec."""

import re
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, field_validator

from supervisor.core.errors import InvalidSpec
from supervisor.core.kafka_properties import client_of, read_properties
from supervisor.core.spec_fields import Duration, Flag, LongDuration, format_duration, shown, wrong
from tasks.kafka_client import KafkaClient
from tasks.wire import Wire

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def _checked_topic(name: str) -> str:
    """Source: Kafka's org.apache.kafka.common.internals.Topic."""
    if _TOPIC.fullmatch(name) is None or name in {".", ".."}:
        raise wrong(
            f"{shown(name)} is not the name of a Kafka topic",
            "letters, digits and . _ - only, at most 249",
        )
    return name


class InputFormat(Wire):
    """How a record's value is written."""

    type: Literal["json"]


class KafkaIoConfig(Wire):
    """Where to read and how to divide the reading.  Names on the wire are Druid's."""

    topic: Annotated[str, Field(strict=True), AfterValidator(_checked_topic)]
    consumer_properties: dict[str, JsonValue]
    """Property -> value, the names in lower case; secrets are references only."""
    input_format: InputFormat
    task_count: Annotated[int, Field(strict=True, ge=1, le=1_000)] = 1
    """Groups that read at once; each reads every `task_count`-th partition."""
    replicas: Annotated[int, Field(strict=True, ge=1, le=10)] = 1
    """Tasks that read the same range side by side; the first to publish wins."""
    task_duration: LongDuration = timedelta(hours=1)
    start_delay: Duration = timedelta(0)
    period: LongDuration = timedelta(seconds=30)
    use_earliest_offset: Flag = False
    """Where to begin without committed offsets; partitions found later begin at the earliest."""
    completion_timeout: LongDuration = timedelta(minutes=30)
    stop_task_count: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = None
    """Groups handed off at once; None: all that are due."""

    @field_validator("consumer_properties", mode="before")
    @classmethod
    def _may_reach_a_client(cls, value: object) -> object:
        """Checked again whenever a spec is loaded: an old row may hold what is now refused."""
        try:
            return read_properties(value, "").properties
        except InvalidSpec as error:
            raise wrong(str(error)) from None

    @property
    def client(self) -> KafkaClient:
        """The connection that `consumer_properties` describe."""
        return client_of(self.consumer_properties)

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        return {
            "topic": self.topic,
            "topicPattern": None,
            "inputFormat": self.input_format.model_dump(mode="json"),
            "replicas": self.replicas,
            "taskCount": self.task_count,
            "taskDuration": format_duration(self.task_duration),
            "consumerProperties": dict(self.consumer_properties),
            "autoScalerConfig": None,
            "startDelay": format_duration(self.start_delay),
            "period": format_duration(self.period),
            "useEarliestOffset": self.use_earliest_offset,
            "completionTimeout": format_duration(self.completion_timeout),
            "lateMessageRejectionPeriod": None,
            "earlyMessageRejectionPeriod": None,
            "lateMessageRejectionStartDateTime": None,
            "configOverrides": None,
            "idleConfig": None,
            "stopTaskCount": self.stop_task_count,
            "stream": self.topic,
            "useEarliestSequenceNumber": self.use_earliest_offset,
        }
