"""Supervision of child processes: started, watched, restarted, and stopped with their parent.

                    ready() holds
    STARTING ─────────────────────► READY ──exits──► WAITING ──delay is over──► STARTING
        └──────────────exits──────────────────────────►┘
    any ──stop──► STOPPED: SIGTERM, a grace, then SIGKILL to all that is left of its group

Each child leads a process group of its own, so that Ctrl-C at the terminal reaches only the parent,
which then stops the children in reverse order.  Each child is tied to its parent
(`tasks/runtime/tied.py`), so that no child outlives a killed parent.  A child dies with the thread
that started it, so all of this runs in one thread, which the caller keeps.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from tasks.runtime.tied import tied_argv

_LOOK_PERIOD_S = 0.1
_LOG_BYTES_MAX = 16 * 1024 * 1024
_TAIL_BYTES = 4096


class ChildState(StrEnum):
    """The state of a child; see the diagram above."""

    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    STOPPED = "stopped"


class ChildFailed(Exception):
    """A child ended, or was not ready in time; the message ends with its last log lines."""

    def __init__(self, name: str, what: str, log: Path) -> None:
        self.name = name
        self.log = log
        super().__init__(f"{name} {what}; its log is {log} and ends with:\n{tail(log)}")


@dataclass(frozen=True)
class ChildSpec:
    """A command to keep running, and a check that it is ready."""

    name: str
    argv: tuple[str, ...]
    folder: Path
    """The folder of `<name>.log` (kept across starts) and `<name>.pid`."""
    ready: Callable[[], bool] = lambda: True
    """Whether the child serves; called ten times a second, so it must return soon."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the parent's environment."""
    cwd: Path | None = None
    grace: timedelta = timedelta(seconds=10)
    """The time to end after SIGTERM, before SIGKILL."""


@dataclass(frozen=True)
class Backoff:
    """The growing, bounded delay before the n-th start in a row; starts are unbounded."""

    first: timedelta = timedelta(milliseconds=500)
    longest: timedelta = timedelta(seconds=30)
    healthy_after: timedelta = timedelta(seconds=20)
    """After so long a run, the next failure counts as the first."""

    def delay_s(self, failures: int) -> float:
        """Return the seconds to wait after `failures` (1 or more) in a row."""
        doubled = self.first.total_seconds() * 2.0 ** min(failures - 1, 30)
        return min(doubled, self.longest.total_seconds())


class Child:
    """One process of a spec, at most one at a time."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """The log file of its output, over all its starts."""
        return self.spec.folder / f"{self.spec.name}.log"

    @property
    def pid(self) -> int | None:
        """The process id; None when the child is not running."""
        return self._process.pid if self._process is not None and self.alive() else None

    def start(self) -> None:
        """Start the process; it must not be running."""
        assert self._process is None, f"{self.spec.name} runs already"
        self.spec.folder.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES_MAX:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                tied_argv(self.spec.argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.spec.env},
                cwd=self.spec.cwd,
                start_new_session=True,
            )
        self._pid_file.write_text(f"{self._process.pid}\n")

    def alive(self) -> bool:
        """Whether the process runs; the first call after its end kills the rest of its group."""
        if self._process is None or self._process.returncode is not None:
            return False
        # Seen but not yet reaped: until then the id of its group cannot name another's.
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, self._process.pid, options) is None:
            return True
        self._clear()
        return False

    def exit_code(self) -> int | None:
        """The exit code of the last process, negative for a signal; None: it runs or never ran."""
        return None if self._process is None or self.alive() else self._process.returncode

    def forget(self) -> None:
        """Forget the last process after its end, so that the child can be started again."""
        assert not self.alive(), f"{self.spec.name} still runs"
        self._process = None

    def stop(self) -> None:
        """Stop the process: SIGTERM, the grace, then SIGKILL.  Nothing of its group is left."""
        self.signal(signal.SIGTERM)
        deadline = time.monotonic() + self.spec.grace.total_seconds()
        while self.alive() and time.monotonic() < deadline:
            time.sleep(_LOOK_PERIOD_S / 5)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its group by SIGKILL, as a crash would."""
        if self.alive():
            self._clear()

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal, if it runs."""
        if self._process is not None and self.alive():
            os.kill(self._process.pid, number)  # not yet reaped, so the id is still ours

    @property
    def _pid_file(self) -> Path:
        return self.spec.folder / f"{self.spec.name}.pid"

    def _clear(self) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError, PermissionError):  # nothing is left but its exit code
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._pid_file.unlink(missing_ok=True)


@dataclass
class _Kept:
    """A child, its state, and its failures."""

    child: Child
    state: ChildState
    started_s: float
    failures: int = 0
    due_s: float = 0.0


class ProcessGroup:
    """A group of children that are kept running by `look` or `watch`, from one thread."""

    def __init__(
        self,
        *,
        backoff: Backoff = Backoff(),
        notify: Callable[[str], None] = lambda _: None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backoff = backoff
        self._say = notify
        self._now_s = now_s
        self._kept: dict[str, _Kept] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def add(self, spec: ChildSpec) -> Child:
        """Start a child now and keep it running from now on."""
        assert spec.name not in self._kept, f"there is a child {spec.name} already"
        child = Child(spec)
        child.start()
        self._kept[spec.name] = _Kept(child, ChildState.STARTING, self._now_s())
        return child

    def states(self) -> dict[str, ChildState]:
        """Return the state of each child, as of the last look, in the order of their start."""
        return {name: kept.state for name, kept in self._kept.items()}

    def look(self) -> None:
        """Look at each child once: update its state, and restart it if it is due."""
        now_s = self._now_s()
        for kept in self._kept.values():
            self._look_at(kept, now_s)

    def wait_ready(self, name: str, within: timedelta) -> None:
        """Look until a new child is ready.

        Raises:
            ChildFailed: the child ended, or was not ready in time.
        """
        kept, deadline_s = self._kept[name], self._now_s() + within.total_seconds()
        while True:
            self.look()
            if kept.state is ChildState.READY:  # first: the last look may have taken its time
                return
            if kept.failures:
                raise ChildFailed(name, f"ended with {kept.child.exit_code()}", kept.child.log)
            if self._now_s() > deadline_s:
                raise ChildFailed(name, f"was not ready within {within}", kept.child.log)
            time.sleep(_LOOK_PERIOD_S)

    def watch(self, until: Event) -> None:
        """Keep looking until `until` is set, e.g. by a signal handler."""
        while not until.wait(_LOOK_PERIOD_S):
            self.look()

    def stop(self) -> None:
        """Stop all children, the last first; afterwards none is left or restarted."""
        for name, kept in reversed(self._kept.items()):
            if kept.state is not ChildState.STOPPED:
                self._say(f"stopping {name}")
                kept.child.stop()
                kept.state = ChildState.STOPPED

    def _look_at(self, kept: _Kept, now_s: float) -> None:
        name = kept.child.spec.name
        match kept.state:
            case ChildState.STARTING | ChildState.READY if not kept.child.alive():
                if now_s - kept.started_s > self._backoff.healthy_after.total_seconds():
                    kept.failures = 0
                kept.failures += 1
                delay_s = self._backoff.delay_s(kept.failures)
                kept.state, kept.due_s = ChildState.WAITING, now_s + delay_s
                code = kept.child.exit_code()
                self._say(f"{name} ended with {code}; it starts again in {delay_s:g} s")
            case ChildState.STARTING if kept.child.spec.ready():
                kept.state = ChildState.READY
                self._say(f"{name} is ready (pid {kept.child.pid})")
            case ChildState.WAITING if now_s >= kept.due_s:
                kept.child.forget()
                kept.child.start()
                kept.state, kept.started_s = ChildState.STARTING, now_s
            case _:
                pass  # nothing is due


def tail(log: Path) -> str:
    """Return the last lines of a log; empty if there is none."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace").strip()
