"""A process that outlives the test run is named, ended, and makes the run fail."""

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.tidy.sources import ROOT

pytestmark = pytest.mark.process

_PARENT = (
    "import subprocess, sys; "
    "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE, env={}); "
    "print(child.pid, flush=True); child.wait()"
)


@pytest.fixture
def run_id() -> str:
    """The id of a run that nobody else has."""
    return f"leftovers-{os.getpid()}"


@pytest.fixture
def left(run_id: str) -> Iterator[subprocess.Popen[str]]:
    """A process of the run that waits for ever, with a child that hides its environment."""
    command = [sys.executable, "-c", _PARENT]
    environment = os.environ | {"TIDEGATE_RUN_ID": run_id}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def _leftovers(run_id: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/leftovers.py"), run_id],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_what_outlived_the_run_is_named_and_ended(run_id: str, left: subprocess.Popen[str]) -> None:
    assert left.stdout is not None
    child = left.stdout.readline().strip()

    done = _leftovers(run_id)

    assert done.returncode == 1
    assert f"  {left.pid} " in done.stdout
    assert f"  {child} " in done.stdout
    assert left.wait(timeout=10) < 0
    assert _leftovers(run_id).returncode == 0


def test_processes_of_another_run_are_left_alone(run_id: str, left: subprocess.Popen[str]) -> None:
    done = _leftovers(f"not-{run_id}")

    assert (done.returncode, done.stdout) == (0, "")
    assert left.poll() is None


def test_one_that_ends_before_it_is_killed_keeps_none_from_it() -> None:
    """The end of a process ends those that are tied to it, sooner than they are looked at."""
    command = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with subprocess.Popen(command) as first, subprocess.Popen(command) as second:
        processes = [psutil.Process(first.pid), psutil.Process(second.pid)]
        first.kill()
        first.wait(timeout=10)

        try:
            runpy.run_path(str(ROOT / "scripts/leftovers.py"))["end"](processes)

            assert not processes[1].is_running()
        finally:
            second.kill()
