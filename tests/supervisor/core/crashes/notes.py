"""How far a long run has come, kept in a file: the same command goes on from there.

A file counts for one commit, one range of seeds and one choice of worlds; another one is refused,
so that no verdict is put together from two programs.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.supervisor.core.crashes.run import ExecutionsOutcome

__all__ = ["OtherRun", "RunNotes", "WorldTotals", "commit"]

_ROOT = Path(__file__).parents[4]


class OtherRun(Exception):
    """The file is of another run; the message says of which."""


@dataclass
class WorldTotals:
    """What the seeds of a world have come to."""

    done: int = 0
    """How many there were, from the first one on."""
    violations: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    """Crash point -> how many died there."""
    drops: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    steps: int = 0
    effects: int = 0

    def __post_init__(self) -> None:
        """Take counts as they come from a file."""
        for name in ("faults", "points", "drops"):
            setattr(self, name, Counter(getattr(self, name)))

    def add(self, outcome: ExecutionsOutcome) -> None:
        """Count the next seed."""
        self.done += 1
        self.violations += [f"seed {outcome.seed}: {each}" for each in outcome.violations]
        self.faults += outcome.faults
        self.points += outcome.crash_points
        self.drops += outcome.drops
        self.executions += outcome.executions
        self.steps += outcome.steps
        self.effects += outcome.effects


@dataclass
class RunNotes:
    """What is done already; without a path it is forgotten with the process."""

    path: Path | None = None
    of: Mapping[str, object] = field(default_factory=dict)
    worlds: dict[str, WorldTotals] = field(default_factory=dict)
    hunts: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Planted mistake -> how many seeds it took, and what was found."""

    @classmethod
    def open(cls, path: Path | None, of: Mapping[str, object]) -> "RunNotes":
        """Read what a run has come to; nothing, if there is no file yet.

        Raises:
            OtherRun: the file is of another one.
        """
        if path is None or not path.exists():
            return cls(path, of)
        kept = json.loads(path.read_text())
        if kept["of"] != dict(of):
            raise OtherRun(f"{path} is of {kept['of']}, and this run is of {dict(of)}: delete it")
        worlds = {name: WorldTotals(**one) for name, one in kept["worlds"].items()}
        hunts = {name: (int(number), str(by)) for name, (number, by) in kept["hunts"].items()}
        return cls(path, of, worlds, hunts)

    def save(self) -> None:
        """Write it whole, or leave what was there."""
        if self.path is None:
            return
        worlds = {name: vars(one) for name, one in self.worlds.items()}
        text = json.dumps({"of": dict(self.of), "worlds": worlds, "hunts": self.hunts})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(f"{self.path.suffix}.new")
        beside.write_text(text)
        beside.replace(self.path)


def commit() -> str:
    """Return the commit that is checked out; empty: git does not say."""
    command = ["git", "rev-parse", "HEAD"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
