"""What would change a supervisor's state, as a sentence; the steps are in `remedies`."""

from collections.abc import Mapping
from types import MappingProxyType

_ELSEWHERE = (
    "`tidegate supervisor reset ID --offset P=N` goes on in partition P alone, at an offset that "
    "Kafka holds (without --offset, all partitions begin again)"
)
CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "PENDING": "the first pass makes it run; `tidegate doctor` looks for what holds one up",
        "CONNECTING_TO_STREAM": "Kafka answers: check bootstrap.servers if this lasts",
        "DISCOVERING_INITIAL_TASKS": "its first offsets are stored, which takes a pass",
        "CREATING_TASKS": "a worker reports its tasks: check that one runs if this lasts",
        "NO_CAPACITY": "another worker, more TIDEGATE_WORKER_SLOTS, a lower taskCount or replicas",
        "SUSPENDED": "`tidegate supervisor resume` lets it go on where it stopped",
        "STOPPING": "what it has read is published, and then it is gone",
        "IDLE": "a record of its topic, which is noticed within half a minute",
        "COMPLETED": "a new boundedStreamConfig, or another supervisor, reads more",
        "UNABLE_TO_CONNECT_TO_STREAM": "Kafka can be reached: check brokers, credentials, network",
        "LOST_CONTACT_WITH_STREAM": "Kafka can be reached again; nothing is lost meanwhile",
        "TOPIC_CHANGED": "`tidegate supervisor reset` takes the new topic up",
        "TOPIC_GONE": "its topic is created and then `tidegate supervisor reset`, or `terminate`",
        "OFFSETS_UNREADABLE": _ELSEWHERE,
        "LOST_CONTINUITY": _ELSEWHERE,
        "NO_SUCH_PARTITION": "a boundedStreamConfig that names partitions of the topic",
        "BOUNDS_MISMATCHED": "a supervisor of another id for the other range",
        "SCHEMA_REGISTRY_UNAVAILABLE": "the schema registry answers again",
        "UNREADABLE_SPEC": "a spec that this release reads, or an overlord of a newer release",
        "UNREADABLE_ROWS": "an overlord of the newer release that wrote them leads",
        "EVENT_QUEUE_DEAD": "the repair that the reason names",
        "UNHEALTHY_TASKS": "its tasks succeed: the failures below say what holds them up",
        "UNHEALTHY_SUPERVISOR": "its passes succeed: the failures below say what holds them up",
    }
)
"""Detailed state -> what would change it; a state that is plainly good is left out."""
_NO_TOPIC = (
    "its topic is created; another topic needs a supervisor of its own (`tidegate supervisor "
    "terminate` ends this one)"
)
_UNREAD = frozenset({"UNABLE_TO_CONNECT_TO_STREAM", "LOST_CONTACT_WITH_STREAM"})


def change_of(detailed: str, *, is_topic_missing: bool) -> str | None:
    """Return what would change a state, by its detailed word; None: it is plainly good.

    `is_topic_missing`: the brokers answer, and have no such topic.
    """
    if detailed in _UNREAD and is_topic_missing:
        return _NO_TOPIC
    return CHANGES.get(detailed)
