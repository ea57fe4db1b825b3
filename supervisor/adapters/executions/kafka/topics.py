"""The topics of executions: their names, how many partitions they have, how long they keep."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from supervisor.ports.flows.execution_log import LogTopic

__all__ = ["PREFIX", "RECORD_BYTES_MAX", "ExecutionTopic", "ExecutionTopics"]

PREFIX = "tidegate.executions."
RECORD_BYTES_MAX = 2 * 1024 * 1024
"""Of a record: an input has up to 256 KiB, and an execution's head grows with its failures."""
_DAY_MS = 24 * 3600 * 1000
_DELETE = {"cleanup.policy": "delete", "retention.bytes": "-1"}
_KEPT: Mapping[LogTopic, Mapping[str, str]] = MappingProxyType(
    {
        LogTopic.HISTORY: {**_DELETE, "retention.ms": str(7 * _DAY_MS)},
        LogTopic.STATE: {
            "cleanup.policy": "compact",
            "min.compaction.lag.ms": "0",
            "max.compaction.lag.ms": str(10 * 60 * 1000),
            "segment.bytes": str(32 * 1024 * 1024),
            "min.cleanable.dirty.ratio": "0.2",
        },
        LogTopic.CALLS: {**_DELETE, "retention.ms": str(7 * _DAY_MS)},
        LogTopic.RESULTS: {**_DELETE, "retention.ms": str(7 * _DAY_MS)},
        LogTopic.DEAD: {**_DELETE, "retention.ms": str(30 * _DAY_MS)},
    }
)
_PARTITIONS: Mapping[LogTopic, int] = MappingProxyType(
    {
        LogTopic.HISTORY: 8,
        LogTopic.STATE: 8,
        LogTopic.CALLS: 12,
        LogTopic.RESULTS: 8,
        LogTopic.DEAD: 1,
    }
)


@dataclass(frozen=True)
class ExecutionTopic:
    """One topic as it is made, and as it has to be."""

    of: LogTopic
    name: str
    partitions: int

    @property
    def config(self) -> Mapping[str, str]:
        """Its settings, as the broker names them."""
        return {**_KEPT[self.of], "max.message.bytes": str(RECORD_BYTES_MAX)}

    @property
    def command(self) -> str:
        """What an administrator types to make it."""
        config = " ".join(f"--config {name}={value}" for name, value in self.config.items())
        return f"kafka-topics --create --topic {self.name} --partitions {self.partitions} {config}"


@dataclass(frozen=True)
class ExecutionTopics:
    """All of them.  `entities`: the partitions of history, state and results, fixed for life."""

    prefix: str = PREFIX
    entities: int = _PARTITIONS[LogTopic.HISTORY]
    calls: int = _PARTITIONS[LogTopic.CALLS]

    @property
    def all(self) -> Mapping[LogTopic, ExecutionTopic]:
        """Each topic of the port -> the topic of Kafka."""
        partitions = {LogTopic.CALLS: self.calls, LogTopic.DEAD: _PARTITIONS[LogTopic.DEAD]}
        return {
            each: ExecutionTopic(each, self.name(each), partitions.get(each, self.entities))
            for each in LogTopic
        }

    def name(self, topic: LogTopic) -> str:
        """Return the name of a topic."""
        return f"{self.prefix}{topic}"

    def transactional_id(self, partition: int) -> str:
        """Return the transactional id of a partition's owner: the same for each owner."""
        return f"{self.prefix}seq-{partition}"

    @property
    def probe_id(self) -> str:
        """A transactional id of no partition, by which an executor tries at its start."""
        return f"{self.prefix}seq-start"

    @property
    def relay_id(self) -> str:
        """The transactional id of the overlord that leads: the same for each of them."""
        return f"{self.prefix}relay"

    @property
    def group(self) -> str:
        """The consumer group that decides who owns which partition."""
        return f"{self.prefix}owners"
