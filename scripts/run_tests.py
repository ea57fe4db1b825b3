"""Run pytest for `scripts/test`, and see to it that nothing of the run outlives it.

python scripts/run_tests.py RUN_ID [pytest's arguments]

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
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType

import leftovers

LAST_WORDS_S = 2.0
"""How long pytest, which hears Ctrl-C as well, may take for its summary."""
KILLS_FOR_S = 4.0
"""What is killed may have started more a moment before."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(run_id: str, arguments: list[str]) -> int:
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
    sys.exit(run(sys.argv[1], sys.argv[2:]))
