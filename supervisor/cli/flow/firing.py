"""When triggers fired, when they fire next, and why they did not, in words of commands."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from supervisor.cli.shell.client import Client, path_of
from supervisor.cli.shell.output import ago
from supervisor.cli.shell.problems import ProblemAnswer
from supervisor.views.flows.triggers import TriggersView, TriggerView

__all__ = ["FLOWS", "last_of", "next_of", "rule_of", "triggers_of", "troubles", "whole_story"]

FLOWS = "/api/v1/flows"
_GONE = 404


def triggers_of(
    client: Client, flow: str, document: Mapping[str, JsonValue] | None
) -> list[TriggerView]:
    """Return the triggers of a flow's newest version; none, unasked, if its document has none.

    Also none where the flow was deleted meanwhile.
    """
    if not (document or {}).get("triggers"):
        return []
    try:
        return client.get(path_of(FLOWS, flow, "triggers")).read(TriggersView).triggers
    except ProblemAnswer as problem:
        if problem.status == _GONE:
            return []
        raise


def rule_of(trigger: TriggerView) -> str:
    """Return what a trigger fires at."""
    definition = trigger.definition
    match trigger.type:
        case "schedule":
            return f"{definition['cron']} {definition['timezone']}"
        case "published":
            of = definition.get("table") or definition.get("supervisor")
            return f"at publishes of {of}, {definition['mode']}"
        case _:
            return f"by webhook, {definition['auth']}"


def next_of(triggers: Sequence[TriggerView]) -> str:
    """Return when the first of some triggers fires next, or what keeps them from it."""
    going = [each for each in triggers if not each.paused]
    if triggers and not going:
        by = triggers[0].paused_by if len(triggers) == 1 else None
        return "paused" if by is None else f"paused by {by}"
    times = [each.next_at for each in going if each.next_at is not None]
    if waiting := sum(each.waiting for each in going):
        return f"{waiting} publish{'' if waiting == 1 else 'es'} wait{'s' if waiting == 1 else ''}"
    return f"{min(times):%Y-%m-%d %H:%M} UTC" if times else ""


def last_of(triggers: Sequence[TriggerView], now: datetime) -> str:
    """Return how long ago the last one of some triggers fired; empty: none has."""
    times = [each.last_at for each in triggers if each.last_at is not None]
    return ago(max(times), now) if times else ""


def troubles(triggers: Sequence[TriggerView], flow: str, now: datetime) -> list[str]:
    """Return a line for each trigger of a flow that is paused or did not fire, with the reason."""
    kept = {each.name: "; ".join(_kept(each, now)) for each in triggers}
    return [f"{flow} {name}: {words}" for name, words in kept.items() if words]


def whole_story(trigger: TriggerView, now: datetime) -> str:
    """Return a trigger in one line: its rule, when it fired and fires next, and what keeps it."""
    last = f"last fired {ago(trigger.last_at, now)}" if trigger.last_at else "has not fired yet"
    parts = [rule_of(trigger), last]
    if not trigger.paused and (due := next_of([trigger])):
        parts.append(due if trigger.waiting else f"fires next at {due}")
    return f"{trigger.name}: {'; '.join([*parts, *_kept(trigger, now)])}"


def _kept(trigger: TriggerView, now: datetime) -> list[str]:
    """Return what keeps a trigger from firing, and why it did not fire the last time."""
    kept = []
    if trigger.paused:
        by = "its document" if trigger.paused_by is None else trigger.paused_by
        kept.append(f"paused by {by}")
    if trigger.problem:
        when = "" if trigger.problem_at is None else f" {ago(trigger.problem_at, now)}"
        kept.append(f"did not fire{when}: {trigger.problem}")
    return kept
