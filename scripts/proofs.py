"""Run the heavy proofs for `scripts/prove`, one after another, and note what came of each."""

import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from uuid import uuid4

from run_tests import end_all

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "prove"
ENDS_WITHIN_S = 10.0
"""A part that is interrupted may take so long to end what it started."""
HEAD = "| date (UTC) | commit | part | minutes | verdict | last line |\n|---|---|---|---|---|---|\n"
_PYTHON = (sys.executable, "-u", "-m")
_TESTS = ("bash", "scripts/test")


@dataclass(frozen=True)
class Part:
    """One heavy proof: a command that returns 0 only if all held."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        command = ["python" if word == sys.executable else word for word in self.command]
        return f"{self.name:10} {' '.join([*settings, shlex.join(command)])}"


PARTS = (
    Part("seeds", (*_PYTHON, "tests.simulation", "--seeds", "10000")),
    Part("mutants", (*_PYTHON, "tests.simulation", "--mutants")),
    Part("planted", (*_PYTHON, "tests.supervisor.reports.planted")),
    Part("executions", (*_PYTHON, "tests.simulation", "--executions", "--seeds", "10000")),
    Part("mistakes", (*_PYTHON, "tests.simulation", "--executions", "--mutants")),
    Part("coverage", (*_PYTHON, "tests.simulation", "--seeds", "300", "--coverage")),
    Part(
        "division",
        (*_TESTS, "tests/tasks/ingest/generated/test_any_division.py"),
        {"TIDEGATE_TEST_EXAMPLES": "500"},
    ),
    Part(
        "formats",
        (*_TESTS, "tests/integration/data/test_formats.py"),
        {"TIDEGATE_TEST_RECORDS": "100000"},
    ),
    Part(
        "orphans",
        (*_TESTS, "tests/integration/faults/test_no_orphans.py"),
        {"TIDEGATE_TEST_KILLS": "20", "TIDEGATE_TEST_SPARK": "1"},
    ),
    Part(
        "history",
        (*_TESTS, "tests/integration/reports/test_archive.py"),
        {"TIDEGATE_TEST_RECORDS": "200000"},
    ),
    Part(
        "reports",
        (*_TESTS, "tests/integration/reports/test_many_kills.py"),
        {
            "TIDEGATE_TEST_KILLS": "50",
            "TIDEGATE_TEST_RECORDS": "10000",
            "TIDEGATE_TEST_LOG_MIB": "1024",
        },
    ),
    Part(
        "troubles",
        (*_TESTS, "tests/integration/reports/test_troubles.py"),
        {"TIDEGATE_TEST_AWAY_S": "600"},
    ),
    Part("contract", (*_PYTHON, "tests.contract")),
    Part("chaos", (*_PYTHON, "tests.chaos", "--long")),
    Part("flows", (*_PYTHON, "tests.chaos.flows", "--kills", "100", "--executions", "3000")),
    Part("publishes", (*_PYTHON, "tests.chaos.publishes", "--publishes", "10000")),
)
"""Seeds and planted faults first: they need no broker, and find most."""


class Interrupted(Exception):
    """A signal came."""

    def __init__(self, number: int) -> None:
        self.number = number


def run(part: Part) -> bool:
    """Run one part; write its output and a row of results; return whether it passed."""
    OUT.mkdir(parents=True, exist_ok=True)
    log = OUT / f"{part.name}.log"
    began, moment = time.monotonic(), datetime.now(UTC)
    print(f"prove: {part}\n       output: {log}", flush=True)
    run_id = f"prove-{uuid4().hex}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            part.command,
            cwd=ROOT,
            env=os.environ | part.environment | {"TIDEGATE_RUN_ID": run_id},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            code = process.wait()
        except Interrupted:
            _end(process, run_id)
            raise
    lines = log.read_text(errors="replace").splitlines() or ["no output"]
    verdict = "passed" if code == 0 else f"**failed** ({code})"
    minutes = (time.monotonic() - began) / 60
    last = next((line for line in reversed(lines) if line.strip(" =|")), "").strip(" =|")
    _note(
        f"| {moment:%Y-%m-%d %H:%M} | {_commit()} | {part.name} | {minutes:.1f} | {verdict} "
        f"| {last} |"
    )
    return code == 0


def _end(process: "subprocess.Popen[bytes]", run_id: str) -> None:
    process.terminate()
    try:
        process.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    end_all(run_id)


def _note(row: str) -> None:
    results = OUT / "results.md"
    text = results.read_text() if results.exists() else HEAD
    results.write_text(f"{text}{row}\n")
    print(f"       {row}", flush=True)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main(arguments: list[str]) -> int:
    """Run the named parts, or all; return 0 if all passed, 2 if there is no such part."""
    if arguments == ["--list"]:
        print(*PARTS, sep="\n")
        return 0
    names = [part.name for part in PARTS]
    if unknown := [name for name in arguments if name not in names]:
        print(f"prove: no part {', '.join(unknown)}; there are {', '.join(names)}", file=sys.stderr)
        return 2

    def interrupted(number: int, _: FrameType | None) -> None:
        raise Interrupted(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    wanted = [part for part in PARTS if not arguments or part.name in arguments]
    try:
        failed = [part.name for part in wanted if not run(part)]
    except Interrupted as error:
        return 128 + error.number
    print(f"prove: {len(wanted) - len(failed)} of {len(wanted)} parts passed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
