"""A run's result: as JSON, as one row of the page of results, and as the last line."""

import json
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.chaos.judges.amount import Amount, Wanted, by_family
from tests.chaos.judges.rereads import Rereads
from tests.chaos.judges.rules import Judged
from tests.chaos.points import POINTS

_ROOT = Path(__file__).parents[3]
PAGE = _ROOT / "docs" / "explanation" / "proof-by-chaos.md"
_REPEATED_MAX = 0.05
_CAUGHT_UP_MAX_S = 60.0


@dataclass(frozen=True)
class Result:
    """All that is kept of a run."""

    form: str
    seed: int
    date: str
    commit: str
    faults: dict[str, int]
    kills: int
    records: int
    """In the committed range, by the independent reader."""
    checks: int
    lost: int
    duplicated: int
    recovery_s: tuple[float, float, float]
    """Fault to next publication: median, 95th percentile, maximum."""
    unrecovered: int
    """Faults after which nothing was published."""
    caught_up_s: float
    read_again: int
    """Records that tasks read again though no worker was disturbed."""
    read_again_why: tuple[str, ...]
    rows_left: int
    files_verified: bool
    rows_verified: bool
    command_output: str = ""
    """What the commands said, where one was not content."""
    minutes: float = 0.0
    publications: int = 0
    points_hit: dict[str, int] = field(default_factory=dict)
    points_missed: dict[str, int] = field(default_factory=dict)
    hits_wanted: int = 0
    """Of each crash point of the tables; 0: the form is too short to promise any."""
    soak: Amount = field(default_factory=Amount)
    soak_wanted: Wanted = field(default_factory=Wanted)
    rereads: Rereads | None = None
    """None: no part of the run killed overlords only."""
    judged: Judged = field(default_factory=Judged)
    leaders_slept: tuple[str, ...] = ()
    """What was wrong when leaders slept in a transaction (D2)."""
    processes_left: tuple[str, ...] = ()

    @property
    def troubles(self) -> list[str]:
        """What is not as it must be, in words."""
        left = [f"{self.rows_left} rows left"] if self.rows_left else []
        left += [f"process left: {p}" for p in self.processes_left]
        left += [f"the soak had {text}" for text in self.soak_wanted.short_of(self.soak)]
        left += self._points_missed()
        left += [*self.judged.findings, *self.leaders_slept]
        if self.rereads is not None and self.rereads.share > _REPEATED_MAX:
            left.append(
                f"{self.rereads.share:.2%} read twice because of overlords that were killed"
            )
        verdicts = {
            f"{self.lost} lost": self.lost > 0,
            f"{self.duplicated} duplicated": self.duplicated > 0,
            f"{self.unrecovered} faults not recovered from": self.unrecovered > 0,
            f"caught up after {self.caught_up_s} s": self.caught_up_s > _CAUGHT_UP_MAX_S,
            f"{self.read_again} of {self.records} records read again because of overlords": (
                self.read_again > self.records * _REPEATED_MAX
            ),
            "verify --files --strict refused": not self.files_verified,
            "verify refused": not self.rows_verified,
        }
        return [*left, *(text for text, holds in verdicts.items() if holds)]

    def _points_missed(self) -> list[str]:
        """Return each crash point of the tables that was hit too seldom."""
        points = {p.name: self.points_hit.get(p.name, 0) for p in POINTS}
        want = self.hits_wanted
        return [
            f"{name} hit {hits} of {want} times" for name, hits in points.items() if hits < want
        ]

    def last_line(self) -> str:
        """Return what a run ends with."""
        faults = sum(self.faults.values())
        injected = f"{faults} faults, {self.kills} kills, {self.records} records"
        return f"{injected}: {self.lost} lost, {self.duplicated} duplicated"

    def row(self) -> str:
        """Return the row of the page."""
        p50, p95, longest = self.recovery_s
        cells = (
            self.date,
            self.commit,
            f"{self.form}, seed {self.seed}, {self.minutes:.1f} min",
            f"{sum(self.faults.values())} ({self.kills} kills)",
            ", ".join(f"{n} {what}" for what, n in by_family(self.faults).items()),
            f"{self.records:,}",
            str(self.lost),
            str(self.duplicated),
            f"{p50:.1f} / {p95:.1f} / {longest:.1f}",
            f"{self.caught_up_s:.1f}",
            f"{self.read_again / max(1, self.records):.2%}",
            "-" if self.rereads is None else f"{self.rereads.share:.2%}",
            ", ".join(self.troubles) or "none",
        )
        return f"| {' | '.join(cells)} |\n"


def write(result: Result, folder: Path, *, page: bool) -> Path:
    """Write the result as JSON, and as a row of the page if asked for; return the JSON's path."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"chaos-{result.date.replace(':', '').replace(' ', '-')}-{result.seed}.json"
    (folder / name).write_text(json.dumps(asdict(result), indent=2) + "\n")
    if page:
        with PAGE.open("a", encoding="utf-8") as text:
            text.write(result.row())
    return folder / name


def commit() -> str:
    """Return the short name of the commit the run is of; `+` if the tree differs from it."""
    try:
        described = subprocess.run(
            (shutil.which("git") or "git", "describe", "--always", "--dirty=+", "--exclude=*"),
            cwd=_ROOT,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()
