"""Task logs as chunks: each file is its own spool, read on from what the store has.

    <task>.log    the lines, written by `TaskLogs`
    <task>.about  whose log it is: subject, attempt, table, ...; written when the task begins
    <task>.sent   how many bytes the store has, and a mark once it has all of an ended log
    <task>.held   the log is not sent, or not yet: see `HeldLogs`

A chunk begins at a line and ends behind one, so that a reader of the store sees whole lines while
the rest is under way.  After a restart on the same folder reading goes on at `sent`; what was under
way is sent again under the same ids.  A log whose file was deleted unsent is counted.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tasks.contract.ids import is_safe_name

__all__ = ["ALL", "LogPiece", "LogTail", "plain_text"]

CHUNK_BYTES = 64 * 1024
WAITS_S = 2.0
"""How long a line waits at most for others to be sent with it."""
ALL = "all"
"""Behind the number in `sent`: the log has ended, and the store has all of it."""
_LINE_END = b"\n"


@dataclass(frozen=True)
class LogPiece:
    """A piece of a task's log, to be sent."""

    task: str
    about: Mapping[str, object]
    """What `begin` was given: who the task was."""
    offset: int
    """Of the first byte, in the file."""
    text: str
    """As many characters as bytes: a sign that is no ASCII, or NUL, is a question mark."""
    ends: bool
    """The task has ended, and nothing follows."""

    @property
    def end(self) -> int:
        """The offset behind the piece."""
        return self.offset + len(self.text)


class LogTail:
    """The logs below one folder; for one thread."""

    def __init__(
        self,
        folder: Path,
        is_open: Callable[[str], bool],
        chunk_bytes: int = CHUNK_BYTES,
        *,
        is_noted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Read the logs of `folder`; `is_open`: whether a task's lines are still taken.

        `is_noted`: whether the note of whose log it is was written; before it, nothing is read.
        """
        self._folder = folder
        self._is_noted = is_noted
        self._is_open = is_open
        self._chunk_bytes = chunk_bytes
        self._waiting: dict[str, float] = {}
        """Task -> the last look without a line that waits, or at which lines were handed out."""
        self._whole: set[str] = set()
        """Ended logs of which the store has all: nothing is read of them again."""
        self._under_way: dict[str, LogPiece] = {}
        """Task -> the piece that was handed out last, if it is not stored."""

    def begin(self, task: str, about: Mapping[str, object]) -> None:
        """Note whose log it is; a full disk costs that note alone."""
        if is_safe_name(task):
            with suppress(OSError):
                self._path(task, "about").write_text(json.dumps(about))

    def due(self, now: float) -> Iterator[LogPiece]:
        """Yield one piece of each log that has one to send at `now`, in monotonic seconds."""
        logs = sorted(self._folder.glob("*.log"))
        self._whole &= {path.stem for path in logs}
        for path in logs:
            task = path.stem
            if task in self._whole and not self._is_open(task):
                continue
            if not self._is_noted(task):
                continue
            with suppress(OSError):
                if self._path(task, "held").exists():
                    continue
                if (piece := self._piece_of(task, now)) is not None:
                    self._under_way[task] = piece
                    yield piece

    def sent(self, piece: LogPiece) -> None:
        """Note that the store has a piece and all before it; a log's pieces come in their order."""
        self._write_sent(piece.task, piece.end, ended=piece.ends)
        if piece.ends:
            self._waiting.pop(piece.task, None)
            self._whole.add(piece.task)
        if self._under_way.get(piece.task) == piece:
            del self._under_way[piece.task]

    def again(self, task: str) -> None:
        """Hand out again what is not sent: a piece of this log was not stored."""
        self._under_way.pop(task, None)

    def unsent_bytes(self, task: str) -> int:
        """Return how much of a log the store does not have; 0 if it has all, or there is none."""
        offset, _ = self._read_sent(task)
        with suppress(OSError):
            return max(self._path(task, "log").stat().st_size - offset, 0)
        return 0

    def is_whole(self, task: str) -> bool:
        """Return whether the store has all of an ended log, so that its file may go."""
        return self._read_sent(task)[1] and self.unsent_bytes(task) == 0

    def _piece_of(self, task: str, now: float) -> LogPiece | None:
        offset, whole = self._read_sent(task)
        if (last := self._under_way.get(task)) is not None:
            offset, whole = max(offset, last.end), whole or last.ends
        is_open = self._is_open(task)  # before the size: no line comes after it
        size = self._path(task, "log").stat().st_size
        since = self._waiting.setdefault(task, now)
        if size <= offset:
            self._waiting[task] = now
            if whole and not is_open:
                self._whole.add(task)
            if is_open or whole:
                return None
            return LogPiece(task, self.about(task), size, "", ends=True)
        waited = now - since >= WAITS_S
        if is_open and size - offset < self._chunk_bytes and not waited:
            return None
        self._waiting[task] = now
        text = self._read(task, offset, ended=not is_open)
        if not text:
            return None
        ends = not is_open and offset + len(text) >= size
        return LogPiece(task, self.about(task), offset, text, ends)

    def _read(self, task: str, offset: int, *, ended: bool) -> str:
        with self._path(task, "log").open("rb") as file:
            file.seek(offset)
            content = file.read(self._chunk_bytes)
            is_last = file.tell() >= os.fstat(file.fileno()).st_size
        end = content.rfind(_LINE_END) + 1
        if end == 0 or (ended and is_last):
            # A line without its end: the task has ended, or the line is longer than a chunk.
            end = len(content) if ended or len(content) >= self._chunk_bytes else 0
        return plain_text(content[:end])

    def about(self, task: str) -> Mapping[str, object]:
        """Return whose log a task's is; empty: nobody has written it, or it cannot be read."""
        with suppress(OSError, ValueError):
            about = json.loads(self._path(task, "about").read_text())
            if isinstance(about, dict):
                return about
        return {}

    def _read_sent(self, task: str) -> tuple[int, bool]:
        with suppress(OSError, ValueError):
            number, _, mark = self._path(task, "sent").read_text().strip().partition(" ")
            return max(int(number), 0), mark == ALL
        return 0, False

    def _write_sent(self, task: str, upto: int, *, ended: bool) -> None:
        path = self._path(task, "sent")
        half = path.with_suffix(".sent-new")
        with suppress(OSError):
            half.write_text(f"{upto} {ALL}\n" if ended else f"{upto}\n")
            half.replace(path)

    def _path(self, task: str, kind: str) -> Path:
        return self._folder / f"{task}.{kind}"


def plain_text(content: bytes) -> str:
    """Return as many characters as bytes: one that is no ASCII, or NUL, is a question mark."""
    return "".join(chr(each) if 0 < each < 128 else "?" for each in content)  # noqa: PLR2004
