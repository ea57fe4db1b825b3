"""Which rows of the failure tables A (overlord) and B (tasks) a crash stands for."""

from collections.abc import Collection

_OVERLORD = {
    "A1": ("before BeginHandoff", "before:BeginHandoff"),
    "A2": ("after BeginHandoff", "after:BeginHandoff", "sync:told-pause"),
    "A3": ("before FixEnd", "before:FixEnd"),
    "A4": ("after FixEnd", "after:FixEnd"),
    "A5": ("sync:told-end",),
    "A7": ("inside FixEnd", "in:FixEnd"),
    "A8": ("before StartTask", "before:StartTask"),
    "A9": ("after StartTask", "after:StartTask"),
    "A10": ("inside publish", "publish:judged", "publish:in-transaction"),
    "A11": ("after publish", "publish:committed"),
    "A12": ("publish:answer", "publish:answered"),
    "A13": ("before apply", "inside apply", "apply:in-transaction", "after apply"),
    "A15": (
        *(f"{when} {verb}" for when in ("inside", "after") for verb in ("suspend", "terminate")),
        *(f"{verb}:{when}" for when in ("in-transaction", "committed") for verb in ("suspend",)),
        *(f"{verb}:{when}" for when in ("in-transaction", "committed") for verb in ("terminate",)),
    ),
}
"""Row -> how the names of its crash points end."""
_PHASES = {
    "STARTING": "B1",
    "READING": "B2",
    "PAUSED": "B3",
    "FINISHING": "B4",
}
WANTED_ROWS = (*(f"A{n}" for n in range(1, 16)), *(f"B{n}" for n in range(1, 10)))
"""Those that a long run has to hit."""
ROWS = (*WANTED_ROWS, "B11")


def of_overlord(point: str, states: str) -> set[str]:
    """Return the rows of an overlord's crash but A14; `states`: of the live generations."""
    hit = {row for row, ends in _OVERLORD.items() if point.endswith(ends)}
    if point.startswith("sync:") and "PUBLISHING" in states:
        hit.add("A6")
    return hit


def of_worker(point: str, phases: Collection[str]) -> set[str]:
    """Return the rows of a worker's end; `phases`: of the tasks that end with it."""
    hit = {_PHASES[phase] for phase in phases if phase in _PHASES}
    if "unsynced" in point:
        hit.add("B5")
    if point.endswith((":before:Publish", ":after:Merge")):
        hit.add("B6")
    if point.endswith(":after:Publish"):
        hit.add("B7")
    return hit
