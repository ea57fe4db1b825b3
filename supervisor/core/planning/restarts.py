"""What a spec would do to what runs, in a sentence.  Pure."""

from enum import StrEnum

from supervisor.core.planning.foresee import Foreseen
from supervisor.core.spec.changes import Changes
from supervisor.core.spec.section import Effect


class Restarts(StrEnum):
    """What is stopped or handed off."""

    NONE = "none"
    SUPERVISOR = "supervisor"
    TASKS = "tasks"


def restarts_of(changes: Changes, ranges: Foreseen) -> Restarts:
    """Return what changes stop or hand off; what is read decides, where something is."""
    if ranges.disturbs_nothing:
        return Restarts.NONE
    match changes.effect:
        case Effect.RESTART_TASKS:
            return Restarts.TASKS
        case Effect.RESTART_SUPERVISOR:
            return Restarts.SUPERVISOR
        case _:
            return Restarts.NONE


def describe_impact(changes: Changes, ranges: Foreseen, *, exists: bool, suspended: bool) -> str:
    """Say what would happen; `suspended` as the new spec has it, `ranges` under the new spec."""
    if not exists:
        return "nothing runs under this id: a new supervisor would begin"
    if not changes.fields:
        return "nothing changes: the stored spec says the same"
    ends = _ends(ranges)
    match restarts_of(changes, ranges):
        case Restarts.TASKS if ends and not suspended:
            return f"{ends}; tasks with the new spec go on from there"
        case Restarts.TASKS | Restarts.SUPERVISOR if suspended:
            return f"{ends}; nothing new starts" if ends else "nothing reads, and nothing starts"
        case Restarts.SUPERVISOR:
            return "the supervisor goes on where it stopped"
        case Restarts.TASKS:
            return "no task group reads now: the next ones have the new spec"
        case Restarts.NONE if ends:
            return f"the new values hold at once; for earlier changes {ends}"
        case Restarts.NONE:
            return "nothing that runs is stopped: the new values hold at once"


def _ends(ranges: Foreseen) -> str:
    """Say how many hand off, and how many of those that read do not; empty: none does."""
    if not ranges.ending:
        return ""
    one = len(ranges.ending) == 1
    summary = "1 task group hands" if one else f"{len(ranges.ending)} task groups hand"
    summary += f" off and {'publishes' if one else 'publish'} what was read"
    return summary + (f", {len(ranges.staying)} read on as they do" if ranges.staying else "")
