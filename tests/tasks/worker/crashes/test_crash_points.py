"""kill -9 of a worker's process at each point of a task: the next one reads nothing twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.worker.journal import journals_below
from tests.tasks.memory import P0, desired
from tests.tasks.worker.crashes.crashing import END, READ

pytestmark = pytest.mark.chaos
ROWS = END - END // 10
"""Every tenth record is a reject."""


def run(folder: Path, point: str, *, kill: bool) -> list[list[str]]:
    """Run the program to its end, or until it stands and is killed; return what it told."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.tasks.worker.crashes.crashing", str(folder), point],
        stdout=subprocess.DEVNULL,  # the log
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
        env=dict(os.environ),
    )
    assert process.stderr is not None
    output = []
    for line in process.stderr:
        output.append(line.split())
        if kill and line.startswith("stands"):
            process.send_signal(signal.SIGKILL)
    assert process.wait(60) == (-signal.SIGKILL if kill else 0), output
    process.stderr.close()
    return output


@pytest.mark.parametrize("point", ["reading", "finishing", "merging", "waiting"])
def test_a_killed_worker_goes_on_from_its_journal(tmp_path: Path, point: str) -> None:
    """Source: protocol rules P7, P20; faults B2, B5, B6."""
    run(tmp_path, point, kill=True)
    journal = journals_below(tmp_path).open(desired())
    assert journal is not None
    journaled = journal.held.entries[-1].end[P0]
    assert journaled == (END if point in {"merging", "waiting"} else READ)

    output = run(tmp_path, "end", kill=False)

    read = [int(words[1]) for words in output if words[0] == "read"]
    assert min(read, default=END) == journaled, "not one journaled offset is read again"
    assert ["published", str(ROWS)] in output
