"""Where to read and how to divide the reading: the `ioConfig` of a spec."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Self

from pydantic import AfterValidator, Field, JsonValue, field_validator, model_validator

from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.sections.idle import IdleConfig
from supervisor.core.spec.sections.input_formats import (
    InputFormat,
    KafkaInputFormat,
    written_format,
)
from supervisor.core.spec.sections.kafka_properties import client_of, read_properties
from supervisor.core.spec.sections.topic_pattern import read_pattern
from supervisor.core.values.errors import InvalidSpec
from supervisor.core.values.field_types import (
    Duration,
    Flag,
    LongDuration,
    Moment,
    Whole,
    format_duration,
    shown,
    wrong,
)
from tasks.contract.ingest_spec import KafkaColumns, ValueFormat
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.offsets import TopicPartition
from tasks.contract.wire import Wire

COMPLETION_TIMEOUT = timedelta(minutes=30)
"""Druid's default."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_INTERNAL = ("__", "tidegate.")
"""How the names of topics begin that no pattern matches: Kafka's own, and Tidegate's."""


def _checked_topic(name: str) -> str:
    """Source: Kafka's org.apache.kafka.common.internals.Topic."""
    if _TOPIC.fullmatch(name) is None or name in {".", ".."}:
        raise wrong(
            f"{shown(name)} is not the name of a Kafka topic",
            "letters, digits and . _ - only, at most 249",
        )
    return name


def _checked_pattern(text: str) -> str:
    read_pattern(text)
    return text


class KafkaIoConfig(Wire):
    """Where to read and how to divide the reading.  Names on the wire are Druid's."""

    topic: Annotated[str, Field(strict=True), AfterValidator(_checked_topic)] | None = None
    topic_pattern: Annotated[str, Field(strict=True), AfterValidator(_checked_pattern)] | None = (
        None
    )
    """Instead of `topic`: every topic whose whole name matches, also one that is made later."""
    consumer_properties: dict[str, JsonValue]
    """Property -> value, the names in lower case; secrets are references only."""
    input_format: InputFormat
    task_count: Annotated[Whole, Field(ge=1, le=1_000)] = 1
    """Groups that read at once; each reads every `task_count`-th partition."""
    replicas: Annotated[Whole, Field(ge=1, le=10)] = 1
    """Tasks that read the same range side by side; the first to publish wins."""
    task_duration: LongDuration = timedelta(hours=1)
    start_delay: Duration = timedelta(0)
    period: LongDuration = timedelta(seconds=30)
    use_earliest_offset: Flag = False
    """Where to begin without committed offsets; partitions found later begin at the earliest."""
    completion_timeout: LongDuration = COMPLETION_TIMEOUT
    stop_task_count: Annotated[Whole, Field(ge=1, le=1_000)] | None = None
    """Groups handed off at once; None: all that are due."""
    late_message_rejection_period: LongDuration | None = None
    """Rows that are older than the beginning of their range, less this, are thrown away."""
    late_message_rejection_start_date_time: Moment | None = None
    """Rows before it are thrown away."""
    early_message_rejection_period: LongDuration | None = None
    """Rows later than the beginning of their range, `task_duration` and this are thrown away."""
    bounded_stream_config: BoundedStreamConfig | None = None
    """These ranges are read, once; None: all that comes, for ever."""
    idle_config: IdleConfig | None = None
    """Tasks end while nothing comes; None: they wait for it."""

    @field_validator("consumer_properties", mode="before")
    @classmethod
    def _may_reach_a_client(cls, value: object) -> object:
        """Checked again whenever a spec is loaded: an old row may hold what is now refused."""
        try:
            return read_properties(value, "").properties
        except InvalidSpec as error:
            raise wrong(str(error)) from None

    @model_validator(mode="after")
    def _names_one_source(self) -> Self:
        if (self.topic is None) == (self.topic_pattern is None):
            raise wrong("exactly one of topic and topicPattern must be given", "keep one of them")
        return self

    @model_validator(mode="after")
    def _is_bounded_in_one_topic(self) -> Self:
        if self.bounded_stream_config is not None and self.topic is None:
            raise wrong("boundedStreamConfig is given with a topicPattern", "give the topic")
        return self

    @model_validator(mode="after")
    def _names_one_bound_for_late_rows(self) -> Self:
        if self.late_message_rejection_period and self.late_message_rejection_start_date_time:
            raise wrong(
                "lateMessageRejectionPeriod and lateMessageRejectionStartDateTime are both given",
                "keep one of them",
            )
        return self

    def bounds(self, begun: datetime) -> tuple[datetime | None, datetime | None]:
        """Return the earliest and the latest time of a row whose range was opened at `begun`."""
        late, early = self.late_message_rejection_period, self.early_message_rejection_period
        first = self.late_message_rejection_start_date_time
        try:
            return (
                first if late is None else begun - late,
                None if early is None else begun + self.task_duration + early,
            )
        except OverflowError:  # so far away that no row can be there
            return first, None

    @property
    def bounds_move(self) -> bool:
        """Which rows are thrown away counts from the opening of their range."""
        periods = (self.late_message_rejection_period, self.early_message_rejection_period)
        return any(period is not None for period in periods)

    @property
    def stream(self) -> str:
        """The topic, or the pattern of several; Druid's word."""
        return self.topic or self.topic_pattern or ""

    def reads(self, topic: str) -> bool:
        """Whether a topic is one of those that are read."""
        if self.topic_pattern is None:
            return topic == self.topic
        return not topic.startswith(_INTERNAL) and read_pattern(self.topic_pattern).matches(topic)

    @property
    def idle_after(self) -> timedelta | None:
        """How long nothing has to come until no task runs; None: tasks wait for ever."""
        return None if self.idle_config is None else self.idle_config.after

    @property
    def starts(self) -> dict[TopicPartition, int] | None:
        """Where the ranges begin that are read once; None: it is not bounded."""
        found = self.bounded_stream_config
        return None if found is None else self._of_topic(found.start_sequence_numbers)

    @property
    def ends(self) -> dict[TopicPartition, int] | None:
        """Where the ranges end, exclusive; None: it is not bounded."""
        found = self.bounded_stream_config
        return None if found is None else self._of_topic(found.end_sequence_numbers)

    def _of_topic(self, offsets: dict[int, int]) -> dict[TopicPartition, int]:
        return {TopicPartition(self.topic or "", p): offsets[p] for p in sorted(offsets)}

    @property
    def value_format(self) -> ValueFormat | None:
        """How values are written, as tasks are told it; None: they are not looked at."""
        if isinstance(self.input_format, KafkaInputFormat):
            return self.input_format.value_contract()
        return self.input_format.contract()

    @property
    def kafka_columns(self) -> KafkaColumns | None:
        """Which parts beside the value are fields, as tasks are told it."""
        spec = self.input_format
        return spec.columns_contract() if isinstance(spec, KafkaInputFormat) else None

    @property
    def client(self) -> KafkaClient:
        """The connection that `consumer_properties` describe."""
        return client_of(self.consumer_properties)

    def normalised(self) -> dict[str, object]:
        """Return it as GET writes it."""
        return {
            "topic": self.topic,
            "topicPattern": self.topic_pattern,
            "inputFormat": written_format(self.input_format),
            "replicas": self.replicas,
            "taskCount": self.task_count,
            "taskDuration": format_duration(self.task_duration),
            "consumerProperties": dict(self.consumer_properties),
            "autoScalerConfig": None,
            "startDelay": format_duration(self.start_delay),
            "period": format_duration(self.period),
            "useEarliestOffset": self.use_earliest_offset,
            "completionTimeout": format_duration(self.completion_timeout),
            "lateMessageRejectionPeriod": _written(self.late_message_rejection_period),
            "earlyMessageRejectionPeriod": _written(self.early_message_rejection_period),
            "lateMessageRejectionStartDateTime": (
                None
                if self.late_message_rejection_start_date_time is None
                else self.late_message_rejection_start_date_time.isoformat()
            ),
            "boundedStreamConfig": (
                None
                if self.bounded_stream_config is None
                else self.bounded_stream_config.normalised()
            ),
            "configOverrides": None,
            "idleConfig": None if self.idle_config is None else self.idle_config.normalised(),
            "stopTaskCount": self.stop_task_count,
            "stream": self.stream,
            "useEarliestSequenceNumber": self.use_earliest_offset,
        }


def _written(value: timedelta | None) -> str | None:
    return None if value is None else format_duration(value)
