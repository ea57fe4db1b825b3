"""Notes of whose logs begin: written by a thread of their own, so that no sync waits for a disk.

roster ─put─► queue ─thread─► <task>.about, and <task>.held where the end decides
                              before that no piece of the log is sent
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from tasks.durable_files import make_private
from tasks.sending.held_logs import HeldLogs
from tasks.sending.log_tail import LogTail

__all__ = ["LogNotes"]


@dataclass(frozen=True)
class _Note:
    task: str
    about: Mapping[str, object]
    at_once: bool
    """Whether the log is sent as it comes; else it waits for the end of its task."""


class LogNotes:
    """One per worker; thread-safe."""

    def __init__(self, folder: Path, held: HeldLogs) -> None:
        """Write notes into the folder of the task logs; the first one creates it."""
        self._folder, self._held = folder, held
        self._tail = LogTail(folder, lambda _: True)
        self._queue: SimpleQueue[_Note | None] = SimpleQueue()
        self._waiting: Counter[str] = Counter()
        self._lock = Lock()
        """Nobody holds it while a disk is waited for."""
        self._thread: Thread | None = None

    def put(self, task: str, about: Mapping[str, object], *, at_once: bool) -> None:
        """Let a note be written; returns at once."""
        with self._lock:
            self._waiting[task] += 1
            if self._thread is None:
                self._thread = Thread(target=self._run, name="report-notes", daemon=True)
                self._thread.start()
        self._queue.put(_Note(task, about, at_once))

    def is_written(self, task: str) -> bool:
        """Return whether no note of a task waits."""
        return task not in self._waiting

    def close(self, within_s: float) -> None:
        """Write what waits, and end."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(within_s)

    def _run(self) -> None:
        while (note := self._queue.get()) is not None:
            with suppress(OSError):
                make_private(self._folder)
            # Held before its note is there: else a part of it might be sent.
            if note.at_once:
                self._held.send(note.task)
            else:
                self._held.hold(note.task)
            self._tail.begin(note.task, note.about)
            with self._lock:
                self._waiting[note.task] -= 1
                if not self._waiting[note.task]:
                    del self._waiting[note.task]
