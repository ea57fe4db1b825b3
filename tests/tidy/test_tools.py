"""Ruff, mypy and import-linter are content with the whole project, and would not be with less.

The benchmarks, which no test runs, can be started.  Slow: it runs the tools over all of the code.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

pytestmark = pytest.mark.process

BIN = Path(sys.executable).parent
_UNTYPED = "def f(x):\n    return x\n"
_LINTED = 'import os\n\nx = "a" * 100 + "' + "b" * 90 + '"\n'


def _run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    tool, *arguments = command
    return subprocess.run(
        [str(BIN / tool), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.mark.parametrize(
    "command",
    [("ruff", "check", "--quiet"), ("ruff", "format", "--check"), ("mypy",), ("lint-imports",)],
    ids=" ".join,
)
def test_the_tools_find_nothing(command: tuple[str, ...]) -> None:
    done = _run(*command)

    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"


def test_each_figure_of_the_benchmarks_is_listed() -> None:
    texts = [path.read_text() for path in (ROOT / "bench" / "figures").glob("*/*.py")]
    names = {name for text in texts for name in re.findall(r'^NAME = "(.*)"$', text, re.MULTILINE)}

    done = _run("python", "-m", "bench", "--list")

    assert len(names) > 20
    assert names - set(done.stdout.split()) == set(), done.stderr


def test_ruff_catches_an_unused_import_and_a_long_line(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(_LINTED)

    done = _run("ruff", "check", "--config", str(ROOT / "pyproject.toml"), str(tmp_path))

    assert done.returncode == 1
    assert "F401" in done.stdout
    assert "E501" in done.stdout
    assert "D100" in done.stdout


def test_mypy_catches_a_function_without_types(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(_UNTYPED)

    done = _run("mypy", "--config-file", str(ROOT / "pyproject.toml"), str(tmp_path / "bad.py"))

    assert done.returncode == 1
    assert "no-untyped-def" in done.stdout
