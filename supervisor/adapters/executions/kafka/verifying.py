"""What is wrong with a topic of executions, as its broker describes it, and what mends it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from supervisor.adapters.executions.kafka.kept import KeptTopic
from supervisor.adapters.executions.kafka.rights import NEWER_BROKERS, KafkaLogin
from supervisor.adapters.executions.kafka.topics import ExecutionTopic
from supervisor.ports.flows.execution_log import LogTopic

__all__ = ["SeenTopic", "not_the_kept_one", "troubles_of"]

_NEEDED = MappingProxyType(
    {
        LogTopic.HISTORY: ("READ", "WRITE", "DESCRIBE"),
        LogTopic.STATE: ("READ", "WRITE", "DESCRIBE"),
        LogTopic.CALLS: ("WRITE", "DESCRIBE"),
        LogTopic.RESULTS: ("READ", "WRITE", "DESCRIBE"),
        LogTopic.DEAD: ("WRITE", "DESCRIBE"),
    }
)
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""As a client writes an id of zeros."""
_AT_LEAST = {"retention.ms", "max.message.bytes"}
_AT_MOST = {
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "segment.bytes",
    "min.cleanable.dirty.ratio",
}
"""What is in neither is to be as it is written."""


@dataclass(frozen=True)
class SeenTopic:
    """A topic as the broker describes it."""

    partitions: int
    topic_id: str
    operations: frozenset[str] | None
    """None: the broker does not say."""
    config: Mapping[str, str] | None
    """None: this user may not read it."""


def troubles_of(
    topic: ExecutionTopic, seen: SeenTopic | None, kept: KeptTopic | None, login: KafkaLogin
) -> Iterator[str]:
    """Yield what is wrong with a topic, each with what mends it; `seen` None: it is hidden."""
    if seen is None:
        hidden = _right(topic, "DESCRIBE", login)
        is_new = f".  If there is none yet: {topic.command}"
        yield hidden if kept is not None else hidden + is_new
        return
    if seen.topic_id == _NO_ID:
        yield f"{topic.name} has no id: {NEWER_BROKERS}"
        return
    if kept is not None and (kept.name, kept.topic_id) != (topic.name, seen.topic_id):
        yield not_the_kept_one(topic, kept)
        return
    if seen.partitions != topic.partitions:
        yield (
            f"{topic.name} has {seen.partitions} partitions, and needs {topic.partitions}: an "
            f"entity would not be where its records are.  Delete it if it is empty, then: "
            f"{topic.command}"
        )
        return
    for right in _NEEDED[topic.of]:
        if seen.operations is not None and not {right, "ALL"} & seen.operations:
            yield _right(topic, right, login)
    if seen.config is None:
        yield _right(topic, "DESCRIBE_CONFIGS", login)
        return
    for name, wanted in topic.config.items():
        is_so = seen.config.get(name, "")
        if not _fits(name, is_so, wanted):
            before = _before(name, kept, is_so)
            yield (
                f"{topic.name} has {name}={is_so}, and needs {wanted}{before}: kafka-configs "
                f"--alter --entity-type topics --entity-name {topic.name} "
                f"--add-config {name}={wanted}"
            )


def _before(setting: str, kept: KeptTopic | None, is_so: str) -> str:
    """Say what it was when executions began: then somebody has changed it."""
    was = is_so if kept is None or kept.settings is None else kept.settings.get(setting, is_so)
    return "" if was == is_so else f" (it was {was} when executions began on it)"


def _right(topic: ExecutionTopic, right: str, login: KafkaLogin) -> str:
    operation = right.title().replace("_", "")
    command = login.command([operation], f"--topic {topic.name}")
    return f"{right} on {topic.name} is missing: {command}"


def _fits(name: str, is_so: str, wanted: str) -> bool:
    if name in _AT_LEAST:
        return is_so == "-1" or float(is_so or 0) >= float(wanted)
    if name in _AT_MOST:
        return float(is_so or 0) <= float(wanted)
    return is_so == wanted


def not_the_kept_one(topic: ExecutionTopic, kept: KeptTopic) -> str:
    """Say that a topic is not the one that is kept, and what to do."""
    return (
        f"{topic.name} is not the topic in which executions began ({kept.name}, id "
        f"{kept.topic_id}): somebody has made it anew.  Write it from the tables: tidegate "
        "execution restore-topics.  Or restore the old one, or let executions begin anew: empty "
        "the table log_topics of their database"
    )
