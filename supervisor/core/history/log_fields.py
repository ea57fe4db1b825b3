"""Names and values of log fields, the same in every log line of every process.

    supervisor  group  generation  task  replica  attempt  worker  data_source

A worker's lines have the same names (`tasks/machine/log_lines.py`).
"""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from supervisor.core.history.lifecycle_events import EventKind, LifecycleEvent
from supervisor.core.model.rows import Generation, Task

Field = str | int | float | bool | None

_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_OWN = frozenset({"replica", "attempt", "worker", "data_source"})
_GRAVE = frozenset(
    {
        EventKind.GAP_DECLARED,
        EventKind.GENERATION_DISCARDED,
        EventKind.REPLICAS_DIVERGED,
    }
)


def fields_of_task(task: Task, generation: Generation) -> dict[str, Field]:
    """Return the fields of a log line about a task."""
    return {
        "supervisor": task.supervisor_id,
        "data_source": task.data_source,
        "group": generation.group,
        "generation": task.generation_id,
        "task": task.id,
        "replica": task.replica,
        "attempt": task.attempt,
        "worker": task.worker_id,
    }


def fields_of(event: LifecycleEvent) -> dict[str, Field]:
    """Return the fields of a log line about a lifecycle event: its subject first, then its detail.

    Source: docs/reference/events.md, with names in snake case.
    """
    who: dict[str, Field] = {
        "supervisor": event.supervisor_id,
        "data_source": event.data_source,
        "group": event.group,
        "generation": event.generation_id,
        "task": event.task_id,
    }
    facts = {_name(key): _shown(value) for key, value in event.detail.items()}
    who |= {key: value for key, value in facts.items() if key in _OWN}
    rest = {key: value for key, value in facts.items() if key not in _OWN}
    return {key: value for key, value in (who | rest).items() if value is not None}


def is_grave(event: LifecycleEvent) -> bool:
    """Whether the log line about an event is a warning, which operators should look at."""
    failed = event.detail.get("status") == "FAILED" and event.detail.get("lost") is not True
    return failed or event.kind in _GRAVE or event.detail.get("healthy") is False


def _name(member: str) -> str:
    return _CAPITAL.sub(r"_\1", member).lower()


def _shown(value: JsonValue) -> Field:
    """Return a value for people; offsets become `clicks:0 17, clicks:1 4`."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value
