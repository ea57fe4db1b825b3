"""The quiet end of a run: it catches up, publishes all, and leaves nothing behind."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.chaos.judges.oracle import Finding
from tests.chaos.runs.run import Run

_CATCH_UP_S = 120.0
"""A run fails after so long; the page says what was measured, and the target is 60 s."""
_QUIET_S = 120.0
_COMMAND_S = 300.0


@dataclass(frozen=True)
class End:
    """How a run ended."""

    found: Finding
    caught_up_s: float
    """From the last fault's end until everything acknowledged before it was read."""
    rows_left: dict[str, int]
    verified_files: bool
    verified_rows: bool
    command_output: str
    """What the commands said, where one was not content."""

    @property
    def good(self) -> bool:
        """Nothing lost, doubled or left over."""
        commands = self.verified_files and self.verified_rows
        return self.found.good and commands and not any(self.rows_left.values())


def finish(run: Run) -> End:
    """Let the run come to rest and look at what there is."""
    run.fleet.heal()
    run.quiet = True
    ends, calm_at = run.stream.ledger.ends(), time.monotonic()
    run.tick_until(lambda: run.has_read(ends), _CATCH_UP_S)
    caught_up_s = time.monotonic() - calm_at
    run.stream.stop()
    ends = run.stream.ledger.ends()
    run.tick_until(lambda: run.has_read(ends), _CATCH_UP_S)
    run.wished = "suspended"
    run.tick_until(lambda: _is_published(run, ends), _QUIET_S)
    run.tick_until(lambda: not any(run.books.live_rows().values()), _QUIET_S)
    run.until_all_serve()
    run.tick_until(lambda: _is_settled(run), _QUIET_S)
    files = _tidegate(run, "verify", "--files", "--strict")
    rows = _tidegate(run, "verify", run.topic)
    bad = [c for c in (files, rows) if c.returncode != 0]
    return End(
        found=run.check(),
        caught_up_s=round(caught_up_s, 1),
        rows_left=run.books.live_rows(),
        verified_files=files.returncode == 0,
        verified_rows=rows.returncode == 0,
        command_output="\n".join(c.stdout + c.stderr for c in bad),
    )


def _is_published(run: Run, ends: dict[int, int]) -> bool:
    """Whether all that was acknowledged is; what was not may lie behind it in the topic."""
    committed = run.books.look().committed
    return all(committed.get(p, 0) >= end for p, end in ends.items())


def _is_settled(run: Run) -> bool:
    leader = run.leader()
    answer = None if leader is None else run.fleet.ask("GET", leader, "/api/v1/files")
    if answer is None or not answer.is_success:
        return False
    found = answer.json()
    return not found["writing"] and not found["pending"]


def _tidegate(run: Run, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would."""
    return subprocess.run(
        (sys.executable, "-m", "supervisor.cli.main", *arguments),
        env={**os.environ, **run.fleet.environment()},
        capture_output=True,
        text=True,
        timeout=_COMMAND_S,
        check=False,
    )
