"""`scripts/test` ends soon after Ctrl-C or SIGTERM, with all that it has started.

Ctrl-C reaches every process of the terminal's group, SIGTERM of a CI system the first one alone.

Slow: each case is a run of a script in processes of its own.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.tidy.sources import ROOT
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.process, pytest.mark.long]

ENDS_WITHIN_S = 10.0
"""From the signal to the end of the last process."""
STARTS_WITHIN_S = HANGS_AFTER_S
_MARK = "TIDEGATE_TEST_INTERRUPTED"
_AS_FROM_A_SHELL = (
    "import os, signal, sys\n"
    "for each in (signal.SIGINT, signal.SIGTERM):\n"
    "    signal.signal(each, signal.SIG_DFL)\n"  # this test's own run may ignore them
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
_ENDLESS = """
import subprocess
import sys
from pathlib import Path
from threading import Event

from tests.environment.brokers import start_test_broker

STUBBORN = (
    "import signal, threading\\n"
    "for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\\n"
    "    signal.signal(each, signal.SIG_IGN)\\n"
    "threading.Event().wait()\\n"
)


def test_that_never_ends(tmp_path):
    with start_test_broker(tmp_path):
        command = [sys.executable, "-c", STUBBORN]
        with subprocess.Popen(command, start_new_session=True):
            Path({ready!r}).touch()
            Event().wait()
"""


@dataclass
class Run:
    """`scripts/test`, and whatever it starts: the environment tells."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: subprocess.Popen[bytes] | None = None

    @property
    def ready(self) -> Path:
        """There once what is to be interrupted runs."""
        return self.folder / "ready"

    def start(self, script: Path, *arguments: str) -> None:
        """Start it in a session of its own, as CI does: without a terminal."""
        command = [
            sys.executable,
            "-c",
            _AS_FROM_A_SHELL,
            shutil.which("bash") or "bash",
            str(script),
        ]
        with (self.folder / "out").open("wb") as out:
            process = self.process = subprocess.Popen(
                [*command, *arguments],
                env=os.environ | {_MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

        def is_ready() -> bool:
            assert process.poll() is None, (self.folder / "out").read_text()
            return self.ready.exists()

        wait_until(is_ready, within_s=STARTS_WITHIN_S)

    def alive(self) -> list[psutil.Process]:
        """Every process of it."""
        processes = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(_MARK) == self.mark:
                    processes.append(process)
        return processes

    def ends(self, interrupt: Callable[[int], None]) -> int:
        """Interrupt it; return its exit code once nothing of it is left, in time."""
        assert self.process is not None
        began = time.monotonic()
        interrupt(self.process.pid)
        code = self.process.wait(timeout=ENDS_WITHIN_S)
        left = [(process.pid, process.name()) for process in self.alive()]
        assert (left, time.monotonic() - began < ENDS_WITHIN_S) == ([], True)
        return code


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    new_run = Run(tmp_path)
    yield new_run
    for process in new_run.alive():
        with suppress(psutil.Error):
            process.kill()
    if new_run.process is not None:
        new_run.process.wait(timeout=ENDS_WITHIN_S)


def _terminated(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def _ctrl_c(pid: int) -> None:
    os.killpg(pid, signal.SIGINT)


def _ctrl_c_alone(pid: int) -> None:
    os.kill(pid, signal.SIGINT)


def _ctrl_c_twice(pid: int) -> None:
    os.killpg(pid, signal.SIGINT)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGINT)


WAYS = {
    "SIGTERM": (_terminated, 143),
    "Ctrl-C": (_ctrl_c, 130),
    "SIGINT to it alone": (_ctrl_c_alone, 130),
    "Ctrl-C twice": (_ctrl_c_twice, 130),
}


@pytest.mark.kafka
@pytest.mark.parametrize(
    ("script", "way"), [("scripts/test", "Ctrl-C"), (".ci/run", "SIGTERM")], ids=["user", "CI"]
)
def test_a_run_with_a_broker_and_what_takes_no_signal_ends(run: Run, script: str, way: str) -> None:
    """Goal: no JVM lives on and takes the machine from the next run."""
    endless = run.folder / "test_endless.py"
    endless.write_text(_ENDLESS.format(ready=str(run.ready)))
    interrupt, code = WAYS[way]

    run.start(ROOT / script, "-c", "pyproject.toml", "-n", "1", str(endless))

    names = {process.name() for process in run.alive()}
    assert "java" in names
    assert run.ends(interrupt) == code


@pytest.fixture
def checkout(run: Run) -> Path:
    """A checkout in which nothing is to be set up or downloaded, with a test that passes."""
    root = run.folder / "checkout"
    (root / "scripts").mkdir(parents=True)
    for name in ("test", "leftovers.py", "run_tests.py"):
        shutil.copy(ROOT / "scripts" / name, root / "scripts")
    (root / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", root / ".ci")
    (root / ".venv").symlink_to(ROOT / ".venv")
    (root / "scripts/setup").touch()
    packages = [f"{p}/__init__" for p in ("tasks", "tasks/runtime", "tests", "tests/environment")]
    for module in (*packages, JARS, "tests/environment/class_archive"):
        file = root / f"{module}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (root / TEST).write_text("def test_that_passes():\n    pass\n")
    return root


JARS, TEST = "tasks/runtime/jars", "tests/test_one.py"
_WAITS = (
    "import pathlib, sys, threading; pathlib.Path(sys.argv[1]).touch(); threading.Event().wait()"
)
_STARTS_ONE = f"""
import subprocess, sys
command = [sys.executable, "-c", {_WAITS!r}, {{ready!r}}]
with subprocess.Popen(command, start_new_session={{detached}}) as child:
    child.wait()
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_setup_ends(run: Run, checkout: Path, way: str) -> None:
    """Goal: what comes before the tests is not waited for, nor left behind."""
    child = f"{sys.executable} -c '{_WAITS}' {run.ready}"
    (checkout / "scripts/setup").write_text(f"{child} &\nwait\n")
    interrupt, code = WAYS[way]

    run.start(checkout / "scripts/test")

    assert len(run.alive()) >= 3
    assert run.ends(interrupt) == code


@pytest.mark.parametrize("way", WAYS)
def test_a_download_ends(run: Run, checkout: Path, way: str) -> None:
    text = _STARTS_ONE.format(ready=str(run.ready), detached=False)
    (checkout / f"{JARS}.py").write_text(text)
    interrupt, code = WAYS[way]

    run.start(checkout / "scripts/test")

    assert len(run.alive()) >= 3
    assert run.ends(interrupt) == code


@pytest.mark.parametrize("way", WAYS)
def test_tests_end_with_what_has_left_their_group(run: Run, checkout: Path, way: str) -> None:
    """Goal: also a process in a session of its own, which no terminal reaches."""
    text = _STARTS_ONE.format(ready=str(run.ready), detached=True).replace("\n", "\n    ")
    (checkout / TEST).write_text(f"def test_that_waits():{text}\n")
    interrupt, code = WAYS[way]

    run.start(checkout / "scripts/test", "-n", "0")

    assert len(run.alive()) >= 3
    assert run.ends(interrupt) == code


@pytest.mark.parametrize("way", WAYS)
def test_ci_ends_in_its_fast_tests_and_begins_no_others(run: Run, checkout: Path, way: str) -> None:
    text = _STARTS_ONE.format(ready=str(run.ready), detached=True).replace("\n", "\n    ")
    (checkout / TEST).write_text(f"def test_that_waits():{text}\n{_SLOW_ONE}")
    interrupt, code = WAYS[way]

    run.start(checkout / ".ci/run", "-n", "0")

    assert len(run.alive()) >= 3
    assert run.ends(interrupt) == code
    assert not (checkout / "ran").exists()


_SLOW_ONE = """
import pytest

@pytest.mark.process
def test_that_is_not_fast():
    open("ran", "a").write("x")
"""
_LONG_ONE = _SLOW_ONE.replace("process", "long")
_FAST_ONE = "def test_that_is_fast():\n    open('ran', 'a').write('f')\n"
_FAILS = "def test_that_is_fast():\n    open('ran', 'a').write('f'); raise AssertionError\n"


@pytest.mark.parametrize(
    ("script", "options", "tests", "code", "ran"),
    [
        ("scripts/test", ["-p", "no:randomly"], _FAST_ONE + _SLOW_ONE, 0, "fx"),
        ("scripts/test", [], _FAST_ONE + _LONG_ONE, 0, "f"),
        ("scripts/test", [], _LONG_ONE, 5, ""),
        ("scripts/test", ["-p", "no:randomly", TEST], _FAST_ONE + _LONG_ONE, 0, "fx"),
        ("scripts/test", [f"{TEST}::test_that_is_not_fast"], _LONG_ONE, 0, "x"),
        ("scripts/test", ["--all", "-p", "no:randomly"], _FAST_ONE + _LONG_ONE, 0, "fx"),
        ("scripts/test", ["--fast"], _FAST_ONE + _SLOW_ONE, 0, "f"),
        ("scripts/test", ["--fast"], _SLOW_ONE, 5, ""),
        ("scripts/test", ["--fast", "-m", "process"], _FAST_ONE + _SLOW_ONE, 5, ""),
        (".ci/run", [], _FAST_ONE + _SLOW_ONE, 0, "fx"),
        (".ci/run", [], _FAST_ONE + _LONG_ONE, 0, "fx"),
        (".ci/run", [], _FAST_ONE, 0, "f"),
        (".ci/run", [], _SLOW_ONE, 0, "x"),
        (".ci/run", [], "", 5, ""),
        (".ci/run", [], _FAILS + _SLOW_ONE, 1, "f"),
        (".ci/run", ["-k", "not_fast"], _FAST_ONE + _SLOW_ONE, 0, "x"),
    ],
)
def test_each_test_of_a_lane_runs_once(
    run: Run, checkout: Path, script: str, options: list[str], tests: str, code: int, ran: str
) -> None:
    """Goal: CI runs no test twice and leaves none out, and nothing that fails is passed over."""
    (checkout / TEST).write_text(tests)

    done = _done(run, checkout / script, "-n", "0", *options)

    wrote = checkout / "ran"
    assert done.returncode == code, (run.folder / "out").read_text()
    assert (wrote.read_text() if wrote.exists() else "") == ran


@pytest.mark.parametrize(
    ("script", "options", "drawn"),
    [
        ("scripts/test", ["--fast"], "fast"),
        ("scripts/test", ["--fast-first"], "none"),
        ("scripts/test", [], "none"),
        (".ci/run", [], "ci"),
    ],
)
def test_the_fast_run_by_itself_alone_draws_few_examples(
    run: Run, checkout: Path, script: str, options: list[str], drawn: str
) -> None:
    """Goal: what `scripts/test` and CI show is never shown with fewer examples."""
    writes = "open('ran', 'w').write(os.environ.get('HYPOTHESIS_PROFILE', 'none'))"
    (checkout / TEST).write_text(f"import os\n\ndef test_that_writes():\n    {writes}\n")

    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("HYPOTHESIS_PROFILE", raising=False)
        assert _done(run, checkout / script, "-n", "0", *options).returncode == 0

    assert (checkout / "ran").read_text() == drawn


def test_the_fast_tests_fetch_no_jar(run: Run, checkout: Path) -> None:
    """Goal: they run on a machine that has neither Java nor a network."""
    (checkout / f"{JARS}.py").write_text("raise OSError('no network')\n")

    assert _done(run, checkout / "scripts/test", "--fast", "-n", "0").returncode == 0
    assert _done(run, checkout / "scripts/test", "-n", "0").returncode != 0


def _done(run: Run, script: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script to its end; options of lanes come first."""
    lanes = [one for one in arguments if one in ("--all", "--fast", "--fast-first")]
    others = [one for one in arguments if one not in lanes]
    with (run.folder / "out").open("wb") as out:
        return subprocess.run(
            [shutil.which("bash") or "bash", str(script), *lanes, *others],
            check=False,
            timeout=HANGS_AFTER_S,
            stdout=out,
            stderr=out,
        )


_ENDS = {
    0: "pass",
    1: "raise AssertionError",
    5: "",
    139: "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
}


@pytest.mark.parametrize("code", _ENDS)
def test_without_a_signal_the_exit_code_is_that_of_the_tests(
    run: Run, checkout: Path, code: int
) -> None:
    if code == 5:
        (checkout / TEST).unlink()
    else:
        (checkout / TEST).write_text(f"def test_that_ends():\n    {_ENDS[code]}\n")

    done = _done(run, checkout / "scripts/test", "-n", "0")

    assert done.returncode == code, (run.folder / "out").read_text()


@pytest.mark.parametrize("processes", ["0", "1"])
def test_a_run_that_is_stopped_has_named_what_failed(
    run: Run, checkout: Path, processes: str
) -> None:
    """Goal: a CI that ends a run for its time says which tests it had found to fail."""
    shutil.copy(ROOT / "tests/failures.py", checkout / "tests")
    (checkout / "tests/conftest.py").write_text(
        "from tests.failures import name_failures_at_once as pytest_sessionstart\n"
    )
    (checkout / TEST).write_text(
        "import pathlib, threading\n\n"
        "def test_that_fails():\n    assert 1 == 2, 'no such number'\n\n"
        "def test_that_never_ends():\n"
        f"    pathlib.Path({str(run.ready)!r}).touch()\n    threading.Event().wait()\n"
    )

    run.start(checkout / "scripts/test", "-n", processes, "-p", "no:randomly")

    assert run.ends(_terminated) == 143
    output = (run.folder / "out").read_text()
    assert "FAILED tests/test_one.py::test_that_fails, call, after 0 s: " in output
    assert "no such number" in output
