"""Faults of cleaning up: what may be deleted, and when it counts as done."""

from supervisor.chores import task_output
from supervisor.chores.task_output import TaskOutput
from supervisor.eventqueue.handling import EventDone
from tests.simulation.planted.patches import Mutant, Patches


def named_files_are_deleted(patches: Patches) -> None:
    patches.function(task_output, "_named", lambda _: lambda *_: frozenset())


def settled_unseen(patches: Patches) -> None:
    patches.method(TaskOutput, "_look", lambda _: lambda *_: EventDone())


MUTANTS = (
    Mutant(
        "named-files-are-deleted",
        "P23",
        "the folder of a task that ended goes whole, published or not",
        named_files_are_deleted,
    ),
    Mutant(
        "settled-unseen",
        "P23",
        "a folder counts as cleaned before anybody looked into it",
        settled_unseen,
    ),
)
