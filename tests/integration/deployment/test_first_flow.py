"""The tutorial of flows: each of its commands, as printed, before an overlord that is kept running.

The demo that the page starts has a broker and a worker too, which its flow does not need: that a
flow outlives the kill of all of them shows test_dev_killed.py.

Slow: some twenty commands start one after the other, and a lease has to run out in real time.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from supervisor.dev.ports import LOOPBACK, free_port
from supervisor.dev.processes import ChildSpec, ProcessGroup
from tests.tidy.sources import ROOT
from tests.waiting import HANGS_AFTER_S, wait_until

pytestmark = [pytest.mark.process, pytest.mark.long]

PAGE = ROOT / "docs/tutorial/first-flow.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"Save this as `([\w.-]+)`:\s*$")
_DEMO = "scripts/demo"
_EMPTY = "mkdir -p /tmp/empty"
_MARK = "@@ended "
_VOLATILE = (
    (re.compile(r"\S+ ago\b"), "AGO"),
    (re.compile(r"\(for [^)]*\)"), "(for TIME)"),
    (re.compile(r"\d\d:\d\d:\d\d UTC"), "THEN UTC"),
    (re.compile(r"\b[0-9a-f]{20}\b"), "RUN"),
    (re.compile(r"^(look +\w+ +)\d+", re.MULTILINE), r"\g<1>TRIES"),
    (re.compile(r" +"), " "),
)
"""What differs from run to run: times, ids, and how often `look` was tried."""


@dataclass(frozen=True)
class _Step:
    """One command of the page, and the lines that the page shows below it."""

    command: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Page:
    files: dict[str, str]
    steps: list[_Step]


def _read(page: str) -> _Page:
    """Return the files that the page has one save, and its commands in order."""
    files: dict[str, str] = {}
    steps: list[_Step] = []
    for fence in _FENCE.finditer(page):
        kind, text = fence.groups()
        named = _NAME.search(page[: fence.start()])
        if kind == "bash":
            steps += [_Step(line) for line in text.replace("\\\n", "").splitlines()]
        elif kind == "text":
            steps[-1] = _Step(steps[-1].command, tuple(_steady(text).splitlines()))
        elif named:
            files[named[1]] = text
    return _Page(files, steps)


def _steady(text: str) -> str:
    for pattern, steady in _VOLATILE:
        text = pattern.sub(steady, text)
    return text


class _Shell:
    """The reader's second shell: one bash for all commands, with the environment of the page."""

    def __init__(self, folder: Path, url: str) -> None:
        clean = {name: v for name, v in os.environ.items() if not name.startswith("TIDEGATE_")}
        own = {
            "PYTHONPATH": str(ROOT),
            "TIDEGATE_OVERLORDS": url,
            "XDG_CONFIG_HOME": str(folder),
            "COLUMNS": "150",
        }
        self.errors = folder / "stderr"
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                ["/bin/bash", "--norc", "--noprofile"],
                cwd=folder,
                env=clean | own,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def run(self, command: str) -> tuple[str, int]:
        """Return what a command prints, and its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\nprintf '\\n{_MARK}%s\\n' \"$?\"\n")
        self._process.stdin.flush()
        printed = ""
        for line in self._process.stdout:
            if line.startswith(_MARK):
                return printed, int(line.removeprefix(_MARK))
            printed += line
        raise AssertionError(f"the shell ended at {command}: {self.errors.read_text()}")

    def close(self) -> None:
        """End it, and what it has left in the background."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@contextmanager
def _shell(folder: Path, url: str) -> Iterator[_Shell]:
    shell = _Shell(folder, url)
    try:
        yield shell
    finally:
        shell.close()


@contextmanager
def _demo(folder: Path) -> Iterator[str]:
    """Keep an overlord in `folder` as `tidegate dev` keeps its own; yield its address."""
    port, data, over = free_port(), folder / ".tidegate", threading.Event()
    url = f"http://{LOOPBACK}:{port}"
    spec = ChildSpec(
        name="overlord",
        argv=(sys.executable, "-m", "supervisor.cli.main", "overlord"),
        folder=data / "logs",
        env={
            "TIDEGATE_DATA_DIR": str(data),
            "TIDEGATE_METADATA_URL": f"sqlite:///{data}/metadata.db",
            "TIDEGATE_WAREHOUSE": str(data / "warehouse"),
            "TIDEGATE_OVERLORDS": url,
            "TIDEGATE_HOST": LOOPBACK,
            "TIDEGATE_PORT": str(port),
        },
        ready=lambda: _leads(url),
    )
    news: list[str] = []
    with ProcessGroup(notify=news.append) as group:
        group.add(spec)
        group.wait_ready("overlord", timedelta(seconds=HANGS_AFTER_S))
        watch = threading.Thread(target=group.watch, args=(over,), name="watch")
        watch.start()
        try:
            yield url
        finally:
            over.set()
            watch.join()
    assert [one for one in news if "ended with -9" in one], "it was killed, and started again"


def _leads(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/druid/indexer/v1/isLeader", timeout=5).is_success
    return False


def _carry_out(shell: _Shell, step: _Step) -> str:
    """Run a command until it shows what the page shows below it, or once where it shows nothing."""
    seen: list[tuple[str, int]] = []

    def as_shown() -> bool:
        seen.append(shell.run(step.command))
        lines = _steady(seen[-1][0]).splitlines()
        return seen[-1][1] == 0 and all(line in lines for line in step.shown)

    try:
        wait_until(as_shown, within_s=120 if step.shown else 0)
    except AssertionError as error:
        printed, code = seen[-1]
        about = f"{step.command}\nended with {code} and printed:\n{printed}"
        raise AssertionError(f"{about}\nerrors:\n{shell.errors.read_text()}") from error
    return seen[-1][0]


def test_each_command_of_the_tutorial_does_what_the_page_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    port, empty = str(free_port()), _EMPTY.rsplit(maxsplit=1)[-1]
    # Another run on this machine may have the page's port, or its folder.
    page = _read(text.replace("8123", port).replace(empty, str(tmp_path / "empty")))
    assert [step.command for step in page.steps if step.command == _DEMO] == [_DEMO]
    assert list(page.files) == ["orders-day.yaml"]
    for name, content in page.files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / ".venv").symlink_to(sys.prefix)

    printed: dict[str, str] = {}
    with _demo(tmp_path) as url, _shell(tmp_path, url) as shell:
        for step in page.steps:
            if step.command != _DEMO:
                printed[step.command] = _carry_out(shell, step)

    simulated = _of(printed, "tidegate flow simulate")
    assert re.search(r"look +attempt ended: FAILED", simulated), simulated
    assert "orders-day: SUCCESS" in simulated
    assert 'outputs: {"status": 200}' in simulated
    again = _of(printed, "tidegate execution run orders-day", "--wait")
    assert re.search(r"^state +SUCCESS", again, re.MULTILINE), "it found the one of before"
    kept = _of(printed, "tidegate execution list")
    assert re.search(r"^orders-day:monday .* SUCCESS ", kept, re.MULTILINE), kept
    assert kept.count("orders-day:") == 1, "the second command started nothing"


def _of(printed: dict[str, str], *parts: str) -> str:
    """Return what the one command with these parts has printed."""
    [found] = [text for command, text in printed.items() if all(each in command for each in parts)]
    return found
