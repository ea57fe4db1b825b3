"""Run pytest for `scripts/test`, and see to it that nothing of the run outlives it.

python scripts/run_tests.py RUN_ID LANE [pytest's arguments]

    lane            its tests
    all             every one
    standard        all but those with the marker `long`; of a file or folder that is named, all
    fast            those without a JVM, a broker, PostgreSQL or processes of their own
    rest            the others
    rest-or-none    the same, and it is no failure if there is none: the fast ones have run

    pytest ends ─────► what is left is killed and named ──► pytest's code, or 1
    SIGTERM, SIGHUP ─► all of the run is killed ──────────► 128 + the signal's number
    Ctrl-C ──────────► pytest may say what it has found so far; then, or at a second one, the same
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType

import leftovers

LAST_WORDS_S = 2.0
"""How long pytest, which hears Ctrl-C as well, may take for its summary."""
KILLS_FOR_S = 4.0
"""What is killed may have started more a moment before."""
OUTSIDE = ("spark", "kafka", "pg", "chaos", "process", "seeds", "long")
"""Markers of what is not fast: it needs more than its own process, or very long."""
LEAVES_OUT = "TIDEGATE_TESTS_LEAVE_OUT"
"""The variable with markers: a file that has one as a whole is not even imported."""
LANES = {
    "all": "",
    "standard": "not long",
    "fast": " and ".join(f"not {marker}" for marker in OUTSIDE),
    "rest": " or ".join(OUTSIDE),
}
LEFT_OUT = "tests with the marker `long` are left out; `scripts/test --all` and CI run them too"
_OR_NONE = "-or-none"
_NO_TESTS = 5
"""pytest's exit code if nothing was selected."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def options_of(lane: str, arguments: list[str]) -> list[str]:
    """Return pytest's arguments for a lane; a `-m` among those given selects within the lane."""
    shared = ["-n", "3", "--dist", "loadscope", "--no-loadscope-reorder"]
    shared.append(f"--junitxml=build/junit-{lane}.xml")
    rest = list(arguments)
    wanted = [LANES[lane]] if LANES[lane] else []
    while "-m" in rest[:-1]:
        at = rest.index("-m")
        wanted = [*wanted[: bool(LANES[lane])], rest[at + 1]]  # of several the last one counts
        del rest[at : at + 2]
    selected = ["-m", " and ".join(f"({one})" for one in wanted)] if wanted else []
    return [*shared, *selected, *rest]


def run(run_id: str, lane: str, arguments: list[str]) -> int:
    """Run a lane of the tests; return the exit code of the whole."""
    if lane == "standard" and any(_is_path(argument) for argument in arguments):
        lane = "all"
    if lane == "fast" and not any(map(_is_path, arguments)):  # a file that is named is looked at
        os.environ[LEAVES_OUT] = " ".join(OUTSIDE)
    if lane == "standard":
        print(f"scripts/test: {LEFT_OUT}", flush=True)
    code = run_pytest(run_id, options_of(lane.removesuffix(_OR_NONE), arguments))
    return 0 if code == _NO_TESTS and lane.endswith(_OR_NONE) else code


def _is_path(argument: str) -> bool:
    """Whether an argument of pytest's names a file, a folder or a test in one."""
    return not argument.startswith("-") and Path(argument.split("::", 1)[0]).exists()


def run_pytest(run_id: str, arguments: list[str]) -> int:
    """Run pytest with these arguments; return the exit code of the whole."""
    news: SimpleQueue[int | None] = SimpleQueue()  # its `put` is safe in a signal handler

    def heard(number: int, _: FrameType | None) -> None:
        news.put(number)

    for number in _SIGNALS:
        signal.signal(number, heard)
    # In this process group: it is that of the terminal, from which a debugger reads.
    pytest = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments], env=os.environ | {"TIDEGATE_RUN_ID": run_id}
    )

    def wait() -> None:
        pytest.wait()
        news.put(None)

    Thread(target=wait, daemon=True).start()
    if (interrupt := news.get()) is None:
        return leftovers.main(run_id) if pytest.returncode == 0 else _failed(run_id, pytest)
    if interrupt == signal.SIGINT:
        with suppress(Empty):
            news.get(timeout=LAST_WORDS_S)
    end_all(run_id)
    return 128 + interrupt


def _failed(run_id: str, pytest: "subprocess.Popen[bytes]") -> int:
    leftovers.main(run_id)
    code = pytest.returncode
    return code if code > 0 else 128 - code  # as a shell tells of a signal


def end_all(run_id: str) -> None:
    """Kill every process of the run, until there is none."""
    until, ended = time.monotonic() + KILLS_FOR_S, 0
    while (found := leftovers.of_run(run_id)) and time.monotonic() < until:
        ended += len(found)
        leftovers.end(found)
    print(f"scripts/test: interrupted; {ended} processes of the tests were killed", flush=True)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2], sys.argv[3:]))
