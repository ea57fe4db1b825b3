"""Task logs: one bounded file per task in its worker's data folder.

    structlog ──line with `task`──► <data dir>/task-logs/<task id>.log      kept after the task
                                                         <task id>.key      who may read it then
                                                         .about, .sent, .held   see `LogTail`
                                                         .ended             see `KeptEnds`

A full disk costs log lines and nothing else.  A full file takes only grave lines, and says so.
When a task begins, files of ended tasks make room: those that a report store has first.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tasks.contract.ids import is_safe_name
from tasks.durable_files import make_private
from tasks.sending.log_tail import ALL

_SHOWN_FIRST = ("timestamp", "level", "event", "exception")
_NAMES_LAST = (
    "supervisor",
    "data_source",
    "generation",
    "group",
    "replica",
    "attempt",
    "task",
    "worker",
)
_COMPANIONS = (".key", ".about", ".sent", ".ended", ".held")
"""What stands beside a log, and goes with it."""
_GRAVE = ("warning", "error", "critical")
_FULL = "the log is full: from here on warnings and errors alone\n"


@dataclass(frozen=True)
class LogBounds:
    """Limits of what is kept; sizes in bytes."""

    file_bytes_max: int = 4 * 1024 * 1024
    """Beyond this size a task's file takes only grave lines."""
    reserve_bytes: int = 256 * 1024
    """Space for grave lines, once the file is full."""
    files_max: int = 1_000
    total_bytes_max: int = 256 * 1024 * 1024
    line_bytes_max: int = 8 * 1024
    answer_bytes_max: int = 1024 * 1024


@dataclass(frozen=True)
class LogChunk:
    """A piece of a task's log."""

    content: bytes
    start: int
    """Position of the piece in the file, in bytes."""
    size: int
    """Size of the whole file, in bytes."""


class TaskLogs:
    """The logs of one worker, and the structlog processor that fills them; thread-safe."""

    def __init__(self, data_dir: Path, bounds: LogBounds | None = None) -> None:
        """Use `<data dir>/task-logs`; the first task creates the folder."""
        self._folder = data_dir / "task-logs"
        self._bounds = bounds or LogBounds()
        self._lock = Lock()
        self._open: dict[str, str] = {}
        """Task -> digest of its token, for tasks whose lines are taken."""
        self._full: set[str] = set()
        self.unsent_total = 0
        """Logs that made room before a report store had them."""

    def __call__(
        self,
        logger: object,  # noqa: ARG002 -- a processor's signature
        method: str,  # noqa: ARG002 -- same
        event: MutableMapping[str, object],
    ) -> MutableMapping[str, object]:
        """Write the line to the file of its task; return the event unchanged."""
        task_id = event.get("task")
        if isinstance(task_id, str):
            with self._lock:
                if task_id in self._open:
                    line = _line_of(event, self._bounds.line_bytes_max)
                    self._append(task_id, line, grave=event.get("level") in _GRAVE)
        return event

    def begin(self, task_id: str, token: str) -> None:
        """Take a task's lines from now on; the holder of `token` may read them, also later."""
        if not is_safe_name(task_id):
            return
        with self._lock:
            digest = _digest(token)
            self._open[task_id] = digest
            with suppress(OSError):
                make_private(self._folder)
                self._make_room()
                self._key(task_id).write_text(digest)

    def end(self, task_id: str) -> None:
        """Take no more lines of a task; its file stays until it has to make room."""
        with self._lock:
            self._open.pop(task_id, None)
            self._full.discard(task_id)

    def is_open(self, task_id: str) -> bool:
        """Return whether lines of a task are still taken."""
        with self._lock:
            return task_id in self._open

    def may_read(self, task_id: str, token: str) -> bool:
        """Return whether `token` may read a task's log; False if there is no log."""
        if not is_safe_name(task_id):
            return False
        with self._lock:
            known = self._open.get(task_id)
        if known is None:
            with suppress(OSError):
                known = self._key(task_id).read_text()
        return known is not None and hmac.compare_digest(known.encode(), _digest(token).encode())

    def read(self, task_id: str, offset: int) -> LogChunk | None:
        """Return at most `answer_bytes_max` of a task's log, from `offset` on.

        A negative `offset` is counted from the end.  None: there is no such log.
        """
        if not is_safe_name(task_id):
            return None
        try:
            with self._file(task_id).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                start = max(0, size + offset) if offset < 0 else min(offset, size)
                file.seek(start)
                return LogChunk(file.read(self._bounds.answer_bytes_max), start, size)
        except OSError:
            return None

    def _append(self, task_id: str, line: bytes, *, grave: bool) -> None:
        bounds, size = self._bounds, 0
        with suppress(OSError):
            size = self._file(task_id).stat().st_size
        if size + len(line) > bounds.file_bytes_max:
            if task_id not in self._full:
                self._full.add(task_id)
                line = _FULL.encode() + (line if grave else b"")
            elif not grave:
                return
            if size + len(line) > bounds.file_bytes_max + bounds.reserve_bytes:
                return
        with suppress(OSError):
            _write(self._file(task_id), line, size)

    def _make_room(self) -> None:
        """Delete files of ended tasks until there is room for one more: first what is stored.

        Of these, and of those that nobody has stored, the oldest ones go first.
        """
        logs = [path for path in self._folder.glob("*.log") if path.stem not in self._open]
        stored = {path: self._is_stored(path.stem) for path in logs}
        logs.sort(key=lambda path: (not stored[path], path.stat().st_mtime, path))
        sizes = [path.stat().st_size for path in self._folder.glob("*.log")]
        number, total = len(sizes), sum(sizes)
        for path in logs:
            if number < self._bounds.files_max and total <= self._bounds.total_bytes_max:
                return
            total -= path.stat().st_size
            number -= 1
            if not stored[path]:
                self.unsent_total += 1
            path.unlink(missing_ok=True)
            for suffix in _COMPANIONS:
                path.with_suffix(suffix).unlink(missing_ok=True)

    def _file(self, task_id: str) -> Path:
        return self._folder / f"{task_id}.log"

    def _is_stored(self, task_id: str) -> bool:
        """Return whether a report store has the whole log; without one no log is."""
        try:
            return self._folder.joinpath(f"{task_id}.sent").read_text().strip().endswith(f" {ALL}")
        except OSError:
            return False

    def _key(self, task_id: str) -> Path:
        return self._folder / f"{task_id}.key"


def _write(path: Path, line: bytes, size: int) -> None:
    """Append a line whole, or cut the file back to `size`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.write(descriptor, line) != len(line):
            os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _line_of(event: Mapping[str, object], bytes_max: int) -> bytes:
    """Return the ASCII text of a log line; a stack trace follows on lines of its own."""
    named = {*_SHOWN_FIRST, *_NAMES_LAST}
    facts = [key for key in event if key not in named]
    facts += [key for key in _NAMES_LAST if key in event]
    shown = " ".join(f"{key}={_value(event[key])}" for key in facts)
    level = str(event.get("level", "info")).upper()
    head = f"{event.get('timestamp', '')} {level:<7} {event.get('event', '')} {shown}".strip()
    line = head.replace("\n", " ").encode("ascii", "backslashreplace")
    if trace := str(event.get("exception") or ""):
        shifted = "".join(f"\n    {row}" for row in trace.splitlines())
        line += shifted.encode("ascii", "backslashreplace")
    return line[: bytes_max - 1] + b"\n"


def _value(value: object) -> str:
    text = str(value)
    plain = text.isascii() and text.isprintable() and not set(text) & set(' "=')
    return text if plain and text else json.dumps(text)
