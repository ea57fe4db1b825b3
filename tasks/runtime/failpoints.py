"""Failpoints: a process stops exactly where an operator's test wants it to.  Off unless asked for.

    TIDEGATE_FAILPOINTS="after:FixEnd:kill;publish:in-transaction:stop:2"
                         └──name───┘ └action┘                          └ at the second time only

The code names the places it passes by `reach(name)`; with nothing armed that is a call which does
nothing.  The variable is read once, when a process starts, and by nothing else: no request of any
API reaches it.  `docs/reference/failpoints.md` lists the names.
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
"""Tells that a named place is passed."""


class FailpointsError(ValueError):
    """The variable cannot be read; the message names the part and the form."""


class Action(StrEnum):
    """What happens at an armed place."""

    KILL = "kill"
    """SIGKILL to this process."""
    KILL_IN = "kill-in"
    """The same, so many milliseconds later, from another thread."""
    STOP = "stop"
    """SIGSTOP to this process, until somebody sends SIGCONT."""
    EXIT = "exit"
    """End at once with code 70: nothing is flushed, no handler runs."""
    SLEEP = "sleep"
    """Wait so many milliseconds."""


_TIMED = frozenset({Action.KILL_IN, Action.SLEEP})


@dataclass(frozen=True)
class Armed:
    """What to do at one place, and at which time it is passed."""

    name: str
    action: Action
    millis: int = 0
    turn: int = 1
    """Counted from 1; at no other time anything happens."""


def nothing(name: str) -> None:
    """Do nothing: the `reach` of every process in production."""


def reach_of(environment: Mapping[str, str]) -> Reach:
    """Return what to call at each named place.

    Raises:
        FailpointsError: the variable is set to something else than failpoints.
    """
    armed = parse(environment.get(VARIABLE, ""))
    if not armed:
        return nothing
    structlog.get_logger().warning("failpoints are armed", points=[a.name for a in armed])
    return Failpoints(armed).reach


def parse(text: str) -> tuple[Armed, ...]:
    """Read `name:action[=millis][:n]`, several separated by `;`.

    Raises:
        FailpointsError: a part is of another form.
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
    """The armed places of one process; `reach` may be called from any thread."""

    def __init__(self, armed: tuple[Armed, ...]) -> None:
        self._armed = armed
        self._names = frozenset(a.name for a in armed)
        self._passed: dict[str, int] = {}
        self._lock = threading.Lock()

    def reach(self, name: str) -> None:
        """Carry out what is armed for this time that `name` is passed."""
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
