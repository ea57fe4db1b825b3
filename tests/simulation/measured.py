"""`--coverage`: which branches of the deciding code the simulation alone takes."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol

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


class _Measures(Protocol):
    def json_report(self, *, morfs: list[str], outfile: str) -> float: ...


@contextmanager
def measured(lines: list[str]) -> Iterator[None]:
    """Measure what runs in the block, in this process; `lines` takes the table."""
    files = [str(ROOT / name) for name in DECIDING if (ROOT / name).exists()]
    coverage = import_module("coverage").Coverage(
        branch=True, include=files, data_file=None, config_file=False
    )
    with coverage.collect():
        yield
    lines += _table(coverage, files)


def _table(coverage: _Measures, files: Sequence[str]) -> list[str]:
    """Count branches, not lines: definitions run when a module is imported, before any seed."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "coverage.json"
        coverage.json_report(morfs=list(files), outfile=str(made))
        report = json.loads(made.read_text())
    lines = []
    for file, found in sorted(report["files"].items()):
        total, taken = (found["summary"][k] for k in ("num_branches", "covered_branches"))
        missed = ", ".join(f"{at}->{to}" for at, to in found["missing_branches"])
        lines.append(f"{file:34} {taken:4} of {total:4}  {missed}")
    total, taken = (report["totals"][k] for k in ("num_branches", "covered_branches"))
    lines.append(f"branch coverage of the core: {100 * taken / total:.1f} % of {total}")
    return lines
