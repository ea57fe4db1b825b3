"""Failpoints: named places in the code where a test stops the process.  By default none is armed.

    TIDEGATE_FAILPOINTS="after:FixEnd:kill;publish:in-transaction:stop:2"
                         └──name───┘ └action┘                          └ at the second time only

The code calls `reach(name)` at each named place; with nothing armed the call does nothing.  The
variable is read once, when a process starts; no API request can arm a failpoint.
`docs/reference/failpoints.md` lists the names.
"""

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import structlog

VARIABLE = "TIDEGATE_FAILPOINTS"
EXIT_CODE = 70
_POINT = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z:-]*):(?P<action>[a-z-]+)(=(?P<millis>[0-9]{1,7}))?"
    r"(:(?P<turn>[1-9][0-9]{0,8}))?"
)

Reach = Callable[[str], None]
"""A callback that takes the name of a place which the code passes."""


class FailpointsError(ValueError):
    """The variable cannot be parsed; the message names the part and the expected form."""


class Action(StrEnum):
    """The action at an armed failpoint."""

    KILL = "kill"
    """SIGKILL to this process."""
    KILL_IN = "kill-in"
    """SIGKILL after so many milliseconds, from another thread."""
    STOP = "stop"
    """SIGSTOP to this process, until somebody sends SIGCONT."""
    EXIT = "exit"
    """End at once with code 70: nothing is flushed, no handler runs."""
    SLEEP = "sleep"
    """Wait so many milliseconds."""


_TIMED = frozenset({Action.KILL_IN, Action.SLEEP})


@dataclass(frozen=True)
class Armed:
    """One armed failpoint: the action, and the passage at which it happens."""

    name: str
    action: Action
    millis: int = 0
    turn: int = 1
    """Counted from 1; other passages do nothing."""


def nothing(name: str) -> None:
    """Do nothing: the `reach` of every process in production."""


def reach_of(environment: Mapping[str, str]) -> Reach:
    """Return the callback for the failpoints that the environment arms.

    Raises:
        FailpointsError: the variable is set, but not to failpoints.
    """
    armed = parse(environment.get(VARIABLE, ""))
    if not armed:
        return nothing
    structlog.get_logger().warning("failpoints are armed", points=[a.name for a in armed])
    return Failpoints(armed).reach


def parse(text: str) -> tuple[Armed, ...]:
    """Parse `name:action[=millis][:n]`, several separated by `;`.

    Raises:
        FailpointsError: a part has another form.
    """
    return tuple(_parsed(part.strip()) for part in text.split(";") if part.strip())


def _parsed(part: str) -> Armed:
    match = _POINT.fullmatch(part)
    action = match["action"] if match is not None else ""
    known = {a.value: a for a in Action}
    if match is None or action not in known:
        form = f"name:action[:n] with one of {', '.join(known)} (kill-in and sleep with =millis)"
        raise FailpointsError(f"{VARIABLE}: {part[:200]!r} is not of the form {form}")
    timed = known[action] in _TIMED
    if timed != (match["millis"] is not None):
        wanted = "needs" if timed else "takes no"
        raise FailpointsError(f"{VARIABLE}: {part[:200]!r}: {action} {wanted} =millis")
    return Armed(match["name"], known[action], int(match["millis"] or 0), int(match["turn"] or 1))


class Failpoints:
    """The armed failpoints of one process; `reach` may be called from any thread."""

    def __init__(self, armed: tuple[Armed, ...]) -> None:
        self._armed = armed
        self._names = frozenset(a.name for a in armed)
        self._passed: dict[str, int] = {}
        self._lock = threading.Lock()

    def reach(self, name: str) -> None:
        """Carry out the action that is armed for this passage of `name`."""
        if name not in self._names:
            return
        with self._lock:
            self._passed[name] = turn = self._passed.get(name, 0) + 1
        for armed in self._armed:
            if armed.name == name and armed.turn == turn:
                structlog.get_logger().warning("failpoint", at=name, does=armed.action, turn=turn)
                _act(armed)


def _act(armed: Armed) -> None:
    match armed.action:
        case Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Action.KILL_IN:
            later = threading.Timer(armed.millis / 1000, os.kill, (os.getpid(), signal.SIGKILL))
            later.daemon = True
            later.start()
        case Action.STOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        case Action.EXIT:
            os._exit(EXIT_CODE)
        case Action.SLEEP:
            time.sleep(armed.millis / 1000)
