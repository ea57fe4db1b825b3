"""Partition names as Druid writes them: a number, or `topic:number` with several topics.

Source: Druid's KafkaTopicPartition.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TypeVar

from supervisor.core.spec.spec import SupervisorSpec
from tasks.contract.offsets import Offsets, TopicPartition

_Value = TypeVar("_Value")


def names_topics(spec: SupervisorSpec | None, partitions: Iterable[TopicPartition]) -> bool:
    """Return whether names have their topic; without a spec: whether there are several topics."""
    if spec is not None:
        return spec.io_config.topic is None
    return len({partition.topic for partition in partitions}) > 1


def by_name(values: Mapping[TopicPartition, _Value], *, topics: bool) -> dict[str, _Value]:
    """Return partition name -> value, in order."""
    return {str(p if topics else p.partition): values[p] for p in sorted(values)}


def checkpoints(start: Offsets, *, topics: bool) -> str:
    """Return the start of a task's only sequence, as JSON text within JSON, as Druid does."""
    return json.dumps({"0": by_name(start, topics=topics)}, separators=(",", ":"))
