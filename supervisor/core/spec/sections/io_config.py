"""The `ioConfig` of a spec: topics, bounds, and how partitions are divided among tasks."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Self

from pydantic import AfterValidator, Field, JsonValue, field_validator, model_validator

from supervisor.core.spec.problems import SpecProblems
from supervisor.core.spec.section import (
    HOT,
    RESTART_TASKS,
    Alias,
    Fixed,
    Ignored,
    Section,
    Switched,
    Translate,
    Unit,
    Unsupported,
)
from supervisor.core.spec.sections.bounded import BoundedStreamConfig
from supervisor.core.spec.sections.idle import IdleConfig
from supervisor.core.spec.sections.input_formats import (
    InputFormat,
    KafkaInputFormat,
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
    shown,
    wrong,
)
from tasks.contract.ingest_spec import KafkaColumns, ValueFormat
from tasks.contract.kafka_client import KafkaClient
from tasks.contract.offsets import TopicPartition

COMPLETION_TIMEOUT = timedelta(minutes=30)
"""The default of completionTimeout, as in Druid."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_INTERNAL = ("__", "tidegate.")
"""Prefixes of internal topics, Kafka's and Tidegate's, which no pattern matches."""


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


def _judged_properties(notes: SpecProblems, written: object, pointer: str) -> object:
    """Return the checked properties; note each that is refused or has no effect at its pointer."""
    try:
        read = read_properties(written, pointer)
    except InvalidSpec as error:
        for each in error.errors:
            name = each.pointer.removeprefix(pointer).removeprefix("/")
            misplaced = notes.home_hint(name)
            notes.refuse(each.pointer, each.message, misplaced or each.hint)
        notes.drop(pointer)
        return written
    for warning in read.warnings:
        notes.warn(warning)
    return read.properties


Topic = Annotated[str, Field(strict=True), AfterValidator(_checked_topic)]
TopicPattern = Annotated[str, Field(strict=True), AfterValidator(_checked_pattern)]


def _check_bounded(notes: SpecProblems, kept: Mapping[str, object], pointer: str) -> None:
    """Refuse bounds with a topicPattern, and warn of fields that the bounds override."""
    if not isinstance(kept.get("boundedStreamConfig"), Mapping):
        return
    if "topicPattern" in kept:
        notes.refuse(
            f"{pointer}/boundedStreamConfig",
            "partitions are named by their number, so a topicPattern has none",
            "give the topic",
        )
    if kept.get("useEarliestOffset") is not None:
        notes.warn(
            f"{pointer}/useEarliestOffset has no effect: boundedStreamConfig says where it begins"
        )


def _check_source(notes: SpecProblems, kept: dict[str, object], pointer: str) -> None:
    """Require one of topic and topicPattern; after an error a stand-in lets the rest be checked."""
    if "topic" in kept and "topicPattern" in kept:
        hint = "keep one of them"
        notes.refuse(f"{pointer}/topicPattern", "topic is given as well", hint)
        del kept["topicPattern"]
    elif "topic" not in kept and "topicPattern" not in kept:
        hint = "name the Kafka topic to read, or give a topicPattern"
        notes.refuse(f"{pointer}/topic", "topic is required", hint)
        kept["topic"] = "missing"


class KafkaIoConfig(Section):
    """The source of a supervisor and the division into tasks.  Names on the wire are Druid's."""

    part = "ioConfig"
    others = MappingProxyType(
        {
            "stream": Alias("topic"),
            "useEarliestSequenceNumber": Alias("useEarliestOffset"),
            "type": Fixed("kafka"),
            "configOverrides": Unsupported("leave it out", ({},), answers=(None,)),
            "serverPriorityToReplicas": Unsupported("use replicas", ({},)),
            "autoScalerConfig": Switched(
                "enableTaskAutoScaler", "leave it out and set taskCount", answers=(None,)
            ),
            "pollTimeout": Ignored((100,)),
            "emitTimeLagMetrics": Ignored((False,)),
            "lagAggregator": Ignored(({"type": "default"},)),
            "skipOffsetGaps": Ignored((False, True)),  # of Druid 0.14 and before
            "appendToExisting": Ignored((False, True)),  # of batch ingestion, and in many specs
        }
    )

    topic: Annotated[Topic | None, RESTART_TASKS] = None
    topic_pattern: Annotated[TopicPattern | None, RESTART_TASKS] = None
    """Instead of `topic`: every topic whose whole name matches, also one that is created later."""
    consumer_properties: Annotated[
        dict[str, JsonValue], Translate(_judged_properties), RESTART_TASKS
    ]
    """Property -> value, the names in lower case; secrets are references only."""
    input_format: Annotated[InputFormat, RESTART_TASKS]
    task_count: Annotated[Whole, Field(ge=1, le=1_000), Unit.GROUPS, RESTART_TASKS] = 1
    """Number of task groups; each reads every `task_count`-th partition."""
    replicas: Annotated[Whole, Field(ge=1, le=10), Unit.TASKS, HOT] = 1
    """Tasks that read the same range side by side; the first to publish wins."""
    task_duration: Annotated[LongDuration, HOT] = timedelta(hours=1)
    start_delay: Annotated[Duration, HOT] = timedelta(0)
    period: Annotated[LongDuration, HOT] = timedelta(seconds=30)
    use_earliest_offset: Annotated[Flag, HOT] = False
    """Whether reading without committed offsets begins at the earliest offset, else at the latest.
    Partitions that are added later begin at the earliest."""
    completion_timeout: Annotated[LongDuration, HOT] = COMPLETION_TIMEOUT
    stop_task_count: Annotated[Annotated[Whole, Field(ge=1, le=1_000)] | None, Unit.GROUPS, HOT] = (
        None
    )
    """Groups handed off at once; None: all that are due."""
    late_message_rejection_period: Annotated[LongDuration | None, RESTART_TASKS] = None
    """Rows earlier than the opening of their range minus this period are thrown away."""
    late_message_rejection_start_date_time: Annotated[Moment | None, RESTART_TASKS] = None
    """Rows earlier than this time are thrown away."""
    early_message_rejection_period: Annotated[LongDuration | None, RESTART_TASKS] = None
    """Rows later than the opening of their range plus `task_duration` plus this period are thrown
    away."""
    bounded_stream_config: Annotated[BoundedStreamConfig | None, RESTART_TASKS] = None
    """Offset ranges that are read once; None: the topic is read for ever."""
    idle_config: Annotated[IdleConfig | None, HOT] = None
    """Whether tasks end while no records arrive; None: tasks keep waiting."""

    @classmethod
    def check(
        cls,
        notes: SpecProblems,
        written: Mapping[str, object],
        kept: dict[str, object],
        pointer: str,
    ) -> None:
        """Require one source, and check bounds against the other fields."""
        pattern = kept.get("topicPattern")
        if pattern is not None and written.get("stream") == pattern and not written.get("topic"):
            kept.pop("topic", None)  # `stream` repeats the pattern, as in Druid
        _check_source(notes, kept, pointer)
        _check_bounded(notes, kept, pointer)

    @field_validator("consumer_properties", mode="before")
    @classmethod
    def _may_reach_a_client(cls, value: object) -> object:
        """Check the properties on each load, because an old row may have properties now refused."""
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
        """Return the earliest and latest time of a row whose range was opened at `begun`.

        None: there is no such bound.
        """
        late, early = self.late_message_rejection_period, self.early_message_rejection_period
        first = self.late_message_rejection_start_date_time
        try:
            return (
                first if late is None else begun - late,
                None if early is None else begun + self.task_duration + early,
            )
        except OverflowError:  # a bound so far away that no row can exceed it
            return first, None

    @property
    def bounds_move(self) -> bool:
        """Whether the bounds for late and early rows count from the opening of a range."""
        periods = (self.late_message_rejection_period, self.early_message_rejection_period)
        return any(period is not None for period in periods)

    @property
    def stream(self) -> str:
        """The topic, or the pattern of several topics; `stream` is Druid's word."""
        return self.topic or self.topic_pattern or ""

    def reads(self, topic: str) -> bool:
        """Whether the supervisor reads a topic of this name."""
        if self.topic_pattern is None:
            return topic == self.topic
        return not topic.startswith(_INTERNAL) and read_pattern(self.topic_pattern).matches(topic)

    @property
    def idle_after(self) -> timedelta | None:
        """Time without records after which no task runs; None: tasks wait for ever."""
        return None if self.idle_config is None else self.idle_config.after

    @property
    def starts(self) -> dict[TopicPartition, int] | None:
        """Partition -> start offset of the bounded ranges; None: the supervisor is not bounded."""
        found = self.bounded_stream_config
        return None if found is None else self._of_topic(found.start_sequence_numbers)

    @property
    def ends(self) -> dict[TopicPartition, int] | None:
        """Partition -> end offset, exclusive, of the bounded ranges; None: it is not bounded."""
        found = self.bounded_stream_config
        return None if found is None else self._of_topic(found.end_sequence_numbers)

    def _of_topic(self, offsets: dict[int, int]) -> dict[TopicPartition, int]:
        return {TopicPartition(self.topic or "", p): offsets[p] for p in sorted(offsets)}

    @property
    def value_format(self) -> ValueFormat | None:
        """The format of values, in the form of the contract; None: values are not read."""
        if isinstance(self.input_format, KafkaInputFormat):
            return self.input_format.value_contract()
        return self.input_format.contract()

    @property
    def kafka_columns(self) -> KafkaColumns | None:
        """The fields beside the value, in the form of the contract; None: there are none."""
        spec = self.input_format
        return spec.columns_contract() if isinstance(spec, KafkaInputFormat) else None

    @property
    def client(self) -> KafkaClient:
        """The connection that `consumer_properties` describe."""
        return client_of(self.consumer_properties)

    def normalised(self) -> dict[str, object]:
        """Return the ioConfig as GET writes it; `stream` is the topic or the pattern."""
        section = super().normalised() | {"stream": self.stream}
        if (moment := self.late_message_rejection_start_date_time) is not None:
            section["lateMessageRejectionStartDateTime"] = moment.isoformat()
        return section
