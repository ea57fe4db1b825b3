"""`tidegate dev`: the whole product in one folder, by one command.

Slow: it is the demo as a user runs it, from the broker's start to the proof.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tasks.runtime.jars import KAFKA, SPARK
from tests.environment.bare_path import bare_path
from tests.environment.brokers import shared_jars, shared_jars_dir
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]


def dev_process(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start it with a PATH without java, node or psql: nothing of the machine helps it."""
    for part in (KAFKA, SPARK):  # a folder that is named has to have all of them
        shared_jars(part)
    return subprocess.Popen(
        (sys.executable, "-m", "supervisor.cli.main", "dev", "--data-dir", str(folder), *arguments),
        env={
            **os.environ,
            "PATH": bare_path(folder.parent / "bare-path"),
            "JAVA_HOME": "",
            "TIDEGATE_JAVA": "bundled",
            "TIDEGATE_JARS": str(shared_jars_dir()),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_demo_shows_rows_proves_them_and_leaves_nothing_running(tmp_path: Path) -> None:
    """Goal: `scripts/demo --once` is this command; Ctrl-C and a second start go on."""
    folder = tmp_path / "data"
    first = dev_process(folder, "--sample", "--demo", "--once", "--task-duration", "PT5S")
    seen, _ = first.communicate(timeout=400)
    assert first.returncode == 0, seen
    assert "0 lost, 0 duplicated" in seen
    assert re.search(r"^state +SUCCESS", seen, re.MULTILINE), seen
    assert re.search(r'^outputs +{"files": [1-9].* "verdict": "proven"', seen, re.MULTILINE), seen
    assert re.search(r"^pack +SUCCESS .*\nprove +SUCCESS ", seen, re.MULTILINE), seen
    assert not _left(folder)

    second = dev_process(folder, "--sample")
    try:
        wait_until((folder / "logs" / "sample.pid").exists)
    finally:
        second.send_signal(signal.SIGINT)
        again, _ = second.communicate(timeout=90)

    assert second.returncode == 0, again
    assert re.search(r"^Console  (http://127\.0\.0\.1:\d+)/ui/\nAPI      \1$", again, re.MULTILINE)
    assert not _left(folder)


def _left(folder: Path) -> list[str]:
    """Return the command lines of processes that still name the folder."""
    left = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(folder) in line and process.pid != os.getpid():
            left.append(line)
    return left
