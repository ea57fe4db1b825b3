"""Response models of triggers: when each fires, and why it did not."""

from typing import Literal

from pydantic import JsonValue

from supervisor.core.flows.stored_triggers import StoredTrigger
from supervisor.core.flows.triggers import PublishedTrigger, ScheduleTrigger
from tasks.contract.wire import Instant, Wire

__all__ = ["FiredView", "TriggerView", "TriggersView", "trigger_view"]


class TriggerView(Wire):
    """One trigger of a flow."""

    name: str
    type: Literal["schedule", "published", "webhook"]
    definition: dict[str, JsonValue]
    """As the flow has it."""
    paused: bool
    paused_by: str | None
    """Null: it is not paused, or its flow has it so."""
    next_at: Instant | None
    """When it fires next; null: it is paused, or no time tells."""
    last_at: Instant | None
    """When it last fired."""
    last_execution: str | None
    waiting: int
    """Publishes that wait for the execution before to end."""
    fired: int
    """Executions that it has started."""
    passed: int
    """Slots, publishes and requests for which it has started none."""
    problem: str
    """Why it did not fire the last time; empty: it did, or has not had to."""
    problem_at: Instant | None


class TriggersView(Wire):
    """The triggers of a flow, by name."""

    triggers: list[TriggerView]


class FiredView(Wire):
    """What a trigger has started."""

    execution: str


def trigger_view(trigger: StoredTrigger, problem: str) -> TriggerView:
    """Return a trigger as the API has it."""
    definition = trigger.definition
    kind: Literal["schedule", "published", "webhook"] = "webhook"
    if isinstance(definition, ScheduleTrigger):
        kind = "schedule"
    elif isinstance(definition, PublishedTrigger):
        kind = "published"
    return TriggerView(
        name=trigger.name,
        type=kind,
        definition=definition.model_dump(mode="json", by_alias=True),
        paused=trigger.paused,
        paused_by=trigger.paused_by,
        next_at=trigger.next_at,
        last_at=trigger.last_at,
        last_execution=trigger.last_execution,
        waiting=trigger.waiting,
        fired=trigger.fired,
        passed=trigger.passed,
        problem=problem,
        problem_at=trigger.problem_at,
    )
