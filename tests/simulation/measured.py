"""`--coverage`: which branches of the deciding code the simulation alone takes."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from tests.simulation.deciding import ROOT, deciding

LEAST_PERCENT = 90.0
"""Of the branches; with fewer of them the command fails."""


@dataclass
class Branches:
    """How many branches were taken, of all, and which were not."""

    lines: list[str] = field(default_factory=list)
    """One a file."""
    total: int = 0
    taken: int = 0

    @property
    def enough(self) -> bool:
        """Whether so many were taken as are wanted."""
        return 100 * self.taken >= LEAST_PERCENT * self.total > 0

    def verdict(self) -> str:
        """Say it in a line."""
        share = 100 * self.taken / self.total if self.total else 0.0
        wanted = "" if self.enough else f"; at least {LEAST_PERCENT:g} % are wanted"
        return f"branch coverage of the core: {share:.1f} % of {self.total}{wanted}"


class _Measures(Protocol):
    def json_report(self, *, morfs: list[str], outfile: str) -> float: ...


@contextmanager
def measured(branches: Branches) -> Iterator[None]:
    """Measure what runs in the block, in this process; `branches` takes what came of it."""
    files = [str(ROOT / name) for name in deciding()]
    coverage = import_module("coverage").Coverage(
        branch=True, include=files, data_file=None, config_file=False
    )
    with coverage.collect():
        yield
    _count(coverage, files, branches)


def _count(coverage: _Measures, files: Sequence[str], branches: Branches) -> None:
    """Count branches, not lines: definitions run when a module is imported, before any seed."""
    with tempfile.TemporaryDirectory() as folder:
        report_file = Path(folder) / "coverage.json"
        coverage.json_report(morfs=list(files), outfile=str(report_file))
        report = json.loads(report_file.read_text())
    for file, measures in sorted(report["files"].items()):
        total, taken = (measures["summary"][k] for k in ("num_branches", "covered_branches"))
        missed = ", ".join(f"{at}->{to}" for at, to in measures["missing_branches"])
        branches.lines.append(f"{file:34} {taken:4} of {total:4}  {missed}".rstrip())
        branches.total += total
        branches.taken += taken
