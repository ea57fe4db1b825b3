"""How long tasks stood still in a pause, by the lines that their workers have logged."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

_PAUSED = "it has paused"
_GOES_ON = frozenset(
    {
        "it reads",
        "it reads to its end",
        "it has stopped; its journal stays",
        "the task has succeeded",
        "the task has failed",
    }
)
_BEGINS = "the task begins"


@dataclass(frozen=True)
class Pause:
    """One pause of one task; times are seconds since the epoch."""

    task: str
    generation: str
    worker: str
    began: float
    ended: float | None
    """None: no line of the task ends it, so it lasts until its worker ends, or the run."""


def pauses_of(worker: str, lines: Iterable[str]) -> list[Pause]:
    """Return the pauses of a worker's log, in the order in which they began."""
    pauses: list[Pause] = []
    open_since: dict[str, tuple[float, str]] = {}

    def close(task: str, at: float | None) -> None:
        began, generation = open_since.pop(task)
        pauses.append(Pause(task, generation, worker, began, at))

    for line in lines:
        read = _read(line)
        if read is None:
            continue
        task, generation, event, at = read
        if task in open_since and event in _GOES_ON:
            close(task, at)
        elif task in open_since and event == _BEGINS:  # its worker died, nobody knows when
            close(task, None)
        if event == _PAUSED:
            open_since[task] = (at, generation)
    for task in list(open_since):
        close(task, None)
    return sorted(pauses, key=lambda pause: pause.began)


def pauses_in(folder: Path, workers: tuple[str, ...]) -> list[Pause]:
    """Return the pauses of all workers whose logs lie in a folder."""
    pauses: list[Pause] = []
    for worker in workers:
        parts = [folder / f"{worker}.log.1", folder / f"{worker}.log"]
        lines = [
            line
            for part in parts
            if part.exists()
            for line in part.read_text(errors="replace").splitlines()
        ]
        pauses += pauses_of(worker, lines)
    return pauses


def _read(line: str) -> tuple[str, str, str, float] | None:
    """Return task, generation, event and time of a task's line; None: it is another one."""
    if '"task"' not in line:
        return None
    try:
        found = json.loads(line)
        at = datetime.fromisoformat(found["timestamp"]).timestamp()
        return str(found["task"]), str(found["generation"]), str(found["event"]), at
    except (ValueError, KeyError, TypeError):  # a line that a kill cut off, or of a library
        return None
