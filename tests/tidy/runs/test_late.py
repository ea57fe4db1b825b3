"""A run that has to end by a certain time leaves long files out once it is late, and names them."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lanes import is_long
from tests.tidy.sources import ROOT
from tests.waiting import HANGS_AFTER_S

pytestmark = pytest.mark.process
LONG = "long"
SEEDS = "tests/simulation/test_seeds.py"
_CONFTEST = """
from tests.lanes import Lanes, place

def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: place(item.nodeid))

def pytest_xdist_make_scheduler(config, log):
    return Lanes(config, log)

def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes")
"""
_MARKED = f"import pytest\npytestmark = pytest.mark.{LONG}\n"
_TEST = "def test_that_passes():\n    open('ran', 'a').write('{name} ')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three files of tests; the first two by name are long."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "__init__.py").touch()
    (tests / "conftest.py").write_text(_CONFTEST)
    shutil.copy(ROOT / "tests/lanes.py", tests)
    for name, head in (("a", _MARKED), ("b", _MARKED), ("short", "")):
        (tests / f"test_{name}.py").write_text(head + _TEST.format(name=name))
    return tmp_path


def _run(project: Path, late_at: float) -> tuple[list[str], str]:
    """Return which files ran, in order, and what was printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:randomly", "tests"],
        cwd=project,
        env=os.environ | {"TIDEGATE_TESTS_LATE_AT": str(late_at)},
        check=False,
        timeout=HANGS_AFTER_S,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (project / "ran").read_text().split(), done.stdout


def test_a_late_run_leaves_out_what_is_long_and_names_it(project: Path) -> None:
    ran, output = _run(project, time.time() - 1)

    assert ran == ["short"]
    assert "NOT RUN, it is late: tests/test_a.py" in output
    assert "NOT RUN, it is late: tests/test_b.py" in output
    assert "1 passed" in output


def test_a_run_in_time_runs_all_of_it_and_what_is_long_last(project: Path) -> None:
    ran, output = _run(project, time.time() + 3_600)

    assert ran[0] == "short"
    assert sorted(ran) == ["a", "b", "short"]
    assert "NOT RUN" not in output


def test_what_is_long_comes_in_another_order_on_another_day(project: Path) -> None:
    """Goal: a machine that is late every day still runs every file on some day."""
    first = set()
    for day in range(1, 30):
        ran, _ = _run(project, time.time() + day * 86_400)
        first.add(ran[1])
        (project / "ran").unlink()
        if first == {"a", "b"}:
            break

    assert first == {"a", "b"}


@pytest.mark.parametrize(
    ("unit", "long"),
    [
        ("tests/chaos/test_chaos.py", True),
        ("tests/integration/faults/test_restarts.py", False),
        ("tests/simulation/test_seeds.py::test_no_seed_breaks_an_invariant[60]", True),
        (
            "tests/simulation/test_seeds.py::test_none_of_the_next_seeds_breaks_an_invariant[0]",
            False,
        ),
        ("cluster", False),
    ],
)
def test_a_unit_is_long_if_all_of_it_is(unit: str, long: bool) -> None:
    assert is_long(unit) == long
