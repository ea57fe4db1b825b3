"""A run in which a test was skipped fails, and so does one that ran none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

pytestmark = pytest.mark.process

_SKIPPED = "import pytest\ndef test_a(): pytest.skip('no broker')\ndef test_b(): pass\n"
_MARKED = "import pytest\n@pytest.mark.skip(reason='no broker')\ndef test_a(): pass\n"
_MODULE = "import pytest\npytest.skip('no broker', allow_module_level=True)\n"
_EXPECTED = "import pytest\n@pytest.mark.xfail(reason='no broker')\ndef test_a(): assert False\n"
_FINE = "def test_a(): pass\n"


def _pytest(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.tidy.no_skips", "-rA", "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("text", [_SKIPPED, _MARKED, _MODULE, _EXPECTED])
def test_a_skipped_test_fails_and_says_what_was_missing(tmp_path: Path, text: str) -> None:
    done = _pytest(tmp_path, text)

    assert done.returncode != 0, done.stdout
    assert "no broker" in done.stdout
    assert "No test may be skipped" in done.stdout


def test_a_run_without_skips_passes(tmp_path: Path) -> None:
    done = _pytest(tmp_path, _FINE)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_run_without_tests_fails(tmp_path: Path) -> None:
    assert _pytest(tmp_path, "").returncode == pytest.ExitCode.NO_TESTS_COLLECTED
