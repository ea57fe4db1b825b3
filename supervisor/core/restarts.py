"""What a spec would do to what runs, in a sentence.  Pure."""

from enum import StrEnum

from supervisor.core.changes import Changes, Effect


class Restarts(StrEnum):
    """What is stopped or handed off."""

    NONE = "none"
    SUPERVISOR = "supervisor"
    TASKS = "tasks"


def restarts_of(changes: Changes) -> Restarts:
    """Return what changes stop or hand off."""
    match changes.effect:
        case Effect.RESTART_TASKS:
            return Restarts.TASKS
        case Effect.RESTART_SUPERVISOR:
            return Restarts.SUPERVISOR
        case _:
            return Restarts.NONE


def told_of(changes: Changes, *, exists: bool, suspended: bool, groups: int) -> str:
    """Say what would happen; `suspended` as the new spec has it, `groups` read now."""
    held = "1 task group hands" if groups == 1 else f"{groups} task groups hand"
    ends = f"{held} off and {'publishes' if groups == 1 else 'publish'} what was read"
    if not exists:
        return "nothing runs under this id: a new supervisor would begin"
    if not changes.fields:
        return "nothing changes: the stored spec says the same"
    match restarts_of(changes):
        case Restarts.TASKS if groups and not suspended:
            return f"{ends}; tasks with the new spec go on from there"
        case Restarts.TASKS | Restarts.SUPERVISOR if suspended:
            return f"{ends}; nothing new starts" if groups else "nothing reads, and nothing starts"
        case Restarts.SUPERVISOR:
            return "the supervisor goes on where it stopped"
        case Restarts.TASKS:
            return "no task group reads now: the next ones have the new spec"
        case Restarts.NONE:
            return "nothing that runs is stopped: the new values hold at once"
