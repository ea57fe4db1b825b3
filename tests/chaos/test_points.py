"""The table of failure points: complete, and each one a place that the code passes."""

import ast
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import psutil
import pytest

from supervisor.core.planning.actions import Action
from tasks.contract.messages import TaskPhase
from tasks.machine.events import Effect
from tasks.runtime.failpoints import EXIT_CODE, FailpointsError, nothing, parse, reach_of
from tests.chaos.points import POINTS, ROWS
from tests.waiting import wait_until

_ROOT = Path(__file__).parents[2]
_STEPS = ("before", "in", "after")
_VERBS = (
    *("apply", "suspend", "resume", "terminate"),
    *("ask-handoff", "stop-task", "disable-worker", "enable-worker", "mark-unused", "mark-used"),
)


def places() -> set[str]:
    """Every name that the code gives to `reach`."""
    actions = {f"{step}:{a.__name__}" for step in _STEPS for a in get_args(Action)}
    effects = {
        f"worker:{step}:{e.__name__}" for step in ("before", "after") for e in get_args(Effect)
    }
    phases = {f"worker:phase:{phase}" for phase in TaskPhase}
    verbs = {f"{verb}:{step}" for verb in _VERBS for step in ("in-transaction", "committed")}
    publish = {f"publish:{s}" for s in ("judged", "in-transaction", "committed", "answered")}
    sync = {f"sync:{order}" for order in ("told-pause", "told-end", "answered")}
    export = {f"export:{step}" for step in ("copying", "copied", "decided", "committed")}
    compaction = {f"compaction:{step}" for step in ("in-transaction", "committed")}
    backfill = {f"backfill:{step}" for step in ("in-transaction", "committed")}
    replay = {f"replay:{step}" for step in ("sending", "sent")} | {"archive:sent", "trigger:stored"}
    reports = {f"{which}-reports:sent" for which in ("supervisor", "execution")}
    compact = {f"compact:{step}" for step in ("written", "published")}
    single = {"worker:started", "term:begun", "step:acted", "relay:sent"}
    overlord = actions | verbs | publish | sync | export | compaction | backfill | replay | reports
    return overlord | effects | phases | compact | single


def test_every_row_of_the_tables_has_a_point() -> None:
    """Goal: A1-A15 and B1-B9 are all walked, and D2."""
    assert {point.row for point in POINTS} == ROWS
    assert len({point.name for point in POINTS}) == len(POINTS)


@pytest.mark.parametrize("point", [p for p in POINTS if p.failpoint], ids=lambda p: p.name)
def test_every_point_is_a_place_that_the_code_passes(point: object) -> None:
    """Goal: a renamed action makes no point silently unreachable."""
    [armed] = parse(getattr(point, "failpoint", ""))
    assert armed.name in places()


def test_the_reference_lists_every_place() -> None:
    """Goal: the page names what the code passes, and nothing else."""
    page = (_ROOT / "docs" / "reference" / "failpoints.md").read_text()
    rows = re.findall(r"^\| `([^`]+)`", page, re.MULTILINE)
    families = {re.sub(r"<\w+>", "*", row) for row in rows}
    known = {_family(place) for place in places()}
    assert families == known


def _family(place: str) -> str:
    head, _, last = place.rpartition(":")
    return f"{head}:*" if last[:1].isupper() else place


def test_nothing_is_armed_without_the_variable() -> None:
    """Goal: in production `reach` does nothing."""
    assert reach_of({}) is nothing
    assert reach_of({"TIDEGATE_FAILPOINTS": " ; "}) is nothing


@pytest.mark.parametrize(
    "text",
    ["after:FixEnd", "after:FixEnd:explode", "a:kill:0", "a:sleep", "a:kill=5", "kill", "a b:kill"],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    """Goal: a mistyped failpoint is an error at the start, not a test that tests nothing."""
    with pytest.raises(FailpointsError):
        parse(text)


def test_only_a_process_environment_arms_a_failpoint() -> None:
    """Goal: no request can: the variable is read where a process starts, and nowhere else."""
    readers = [
        path.relative_to(_ROOT).as_posix()
        for package in ("supervisor", "tasks")
        for path in (_ROOT / package).rglob("*.py")
        if any(
            isinstance(node, ast.ImportFrom) and node.module == "tasks.runtime.failpoints"
            for node in ast.walk(ast.parse(path.read_text()))
        )
    ]
    assert sorted(readers) == ["supervisor/app/process.py", "tasks/worker/process.py"]


_PROGRAM = """
import os, sys
from tasks.runtime.failpoints import reach_of
reach = reach_of(os.environ)
for turn in range(3):
    reach("here")
    print(turn, flush=True)
"""


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("failpoint", "code", "passed"),
    [
        ("here:kill:2", -signal.SIGKILL, "0"),
        ("here:exit", EXIT_CODE, ""),
        ("here:sleep=1", 0, "012"),
        ("elsewhere:kill", 0, "012"),
    ],
)
def test_a_process_ends_at_its_point_and_at_that_time_only(
    failpoint: str, code: int, passed: str
) -> None:
    """Goal: `name:action:n` acts when the place is passed for the n-th time."""
    ended = subprocess.run(
        (sys.executable, "-c", _PROGRAM),
        cwd=_ROOT,
        env={"TIDEGATE_FAILPOINTS": failpoint, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    turns = re.findall(r"^[0-9]$", ended.stdout, re.MULTILINE)  # the rest is the log
    assert (ended.returncode, "".join(turns)) == (code, passed)


@pytest.mark.chaos
def test_a_process_that_stops_at_its_point_goes_on_when_it_is_told_to() -> None:
    """Goal: `stop` is a sleep and no death: what comes behind the point happens after it."""
    with subprocess.Popen(
        (sys.executable, "-c", _PROGRAM),
        cwd=_ROOT,
        env={"TIDEGATE_FAILPOINTS": "here:stop:2", "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        asleep = psutil.Process(process.pid)
        wait_until(lambda: asleep.status() == psutil.STATUS_STOPPED, 60)
        process.send_signal(signal.SIGCONT)
        output, _ = process.communicate(timeout=60)

    turns = re.findall(r"^[0-9]$", output, re.MULTILINE)
    assert (process.returncode, "".join(turns)) == (0, "012")
