"""`--coverage`: which branches of the deciding code the simulation alone takes."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parents[2]
_CORE = (
    "beginnings",
    "continuity",
    "discards",
    "handoff",
    "moves",
    "names",
    "placement",
    "plan",
    "publish",
    "settle",
    "starts",
    "steps",
    "surplus",
    "view",
)
_TASKS = ("machine", "offsets", "orders", "pacing", "progress", "reading", "task_state")
DECIDING = (
    *(f"supervisor/core/{name}.py" for name in _CORE),
    *(f"tasks/{name}.py" for name in _TASKS),
)
"""The planner, the judgement on publishing and the machine of a task, with all their parts."""


@contextmanager
def measured(lines: list[str]) -> Iterator[None]:
    """Measure what runs in the block, in this process; `lines` takes the table."""
    files = [str(ROOT / name) for name in DECIDING if (ROOT / name).exists()]
    coverage = Coverage(branch=True, include=files, data_file=None, config_file=False)
    with coverage.collect():
        yield
    lines += _table(coverage, files)


def _table(coverage: Coverage, files: Sequence[str]) -> list[str]:
    written = io.StringIO()
    percent = coverage.report(morfs=list(files), file=written, show_missing=True)
    return [*written.getvalue().splitlines(), f"branch coverage of the core: {percent:.1f} %"]
