"""`scripts/prove` knows its parts, says what came of each, and ends with what it started."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = pytest.mark.process
ENDS_WITHIN_S = 20.0
_SIMULATION = "tests/simulation/__main__.py"
_PAGE = ROOT / "docs/explanation/heavy-proofs.md"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose simulation is one line."""
    for name in ("proofs.py", "run_tests.py", "leftovers.py"):
        (tmp_path / "scripts").mkdir(exist_ok=True)
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "tests/simulation").mkdir(parents=True)
    for package in ("tests", "tests/simulation"):
        (tmp_path / package / "__init__.py").touch()  # else ours would be run
    return tmp_path


def _prove(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "scripts/proofs.py"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=HANGS_AFTER_S
    )


def test_the_page_has_a_row_for_each_part() -> None:
    listed = [line.split()[0] for line in _prove(ROOT, "--list").stdout.splitlines()]

    parts = _PAGE.read_text().partition("## Parts")[2].partition("## Last")[0]
    assert re.findall(r"^\| `(\w+)`", parts, re.MULTILINE) == listed


def test_a_part_that_is_not_there_is_named() -> None:
    done = _prove(ROOT, "seeds", "sedes")

    assert done.returncode == 2
    assert "no part sedes" in done.stderr


@pytest.mark.parametrize(("code", "verdict"), [(0, "passed"), (3, "**failed** (3)")])
def test_a_part_leaves_its_output_and_a_row(checkout: Path, code: int, verdict: str) -> None:
    (checkout / _SIMULATION).write_text(f"print('7 seeds')\nraise SystemExit({code})\n")

    done = _prove(checkout, "seeds")

    assert done.returncode == bool(code), done.stderr
    out = checkout / "build/prove"
    assert (out / "seeds.log").read_text() == "7 seeds\n"
    row = (out / "results.md").read_text().splitlines()[-1]
    assert row.endswith(f"| {verdict} | 7 seeds |")


def test_sigterm_ends_a_part_that_takes_no_signal(checkout: Path) -> None:
    """Goal: hours of work that nobody waits for do not go on."""
    (checkout / _SIMULATION).write_text(
        "import pathlib, signal, threading\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path('ready').touch()\n"
        "threading.Event().wait()\n"
    )
    command = [sys.executable, str(checkout / "scripts/proofs.py"), "seeds"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        wait_until((checkout / "ready").exists, within_s=HANGS_AFTER_S)

        process.send_signal(signal.SIGTERM)

        assert process.wait(ENDS_WITHIN_S) == 143
    assert not (checkout / "build/prove/results.md").exists()
