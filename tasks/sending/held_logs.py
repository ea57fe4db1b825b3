"""Logs that wait for the end of their task, which decides whether they are sent.

    <task>.held    empty: not decided; `never`: the log is not sent, and makes room first

It is a file, so that a worker that starts again knows what was decided.
"""

from contextlib import suppress
from pathlib import Path

from tasks.contract.ids import is_safe_name
from tasks.sending.log_tail import ALL

__all__ = ["HeldLogs"]

_NEVER = "never"


class HeldLogs:
    """The logs below one folder; a full disk costs the decision: then the log is sent."""

    def __init__(self, folder: Path) -> None:
        """Hold logs of `folder`."""
        self._folder = folder

    def hold(self, task: str) -> None:
        """Let the log of a task that begins, or goes on, wait for its end."""
        if is_safe_name(task):
            with suppress(OSError):
                if self._path(task).exists() and self._path(task).read_text() == _NEVER:
                    self._sent(task).unlink(missing_ok=True)
                self._path(task).write_text("")

    def send(self, task: str) -> None:
        """Let a log be sent."""
        if is_safe_name(task):
            with suppress(OSError):
                self._path(task).unlink(missing_ok=True)

    def drop(self, task: str) -> None:
        """Note that nobody wants a log: it stays on this disk alone, until it makes room."""
        if is_safe_name(task):
            with suppress(OSError):
                self._path(task).write_text(_NEVER)
                size = (self._folder / f"{task}.log").stat().st_size
                self._sent(task).write_text(f"{size} {ALL}\n")

    def stored(self, task: str, size: int) -> None:
        """Note that a store has `size` bytes of an ended log, which came with its task's result."""
        if is_safe_name(task):
            with suppress(OSError):
                half = self._sent(task).with_suffix(".sent-new")
                half.write_text(f"{size} {ALL}\n")
                half.replace(self._sent(task))
                self._path(task).unlink(missing_ok=True)

    def undecided(self) -> list[str]:
        """Return the tasks whose end has not decided yet."""
        waiting = []
        for path in self._folder.glob("*.held"):
            with suppress(OSError):
                if path.read_text() != _NEVER:
                    waiting.append(path.stem)
        return waiting

    def _path(self, task: str) -> Path:
        return self._folder / f"{task}.held"

    def _sent(self, task: str) -> Path:
        return self._folder / f"{task}.sent"
