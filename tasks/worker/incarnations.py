"""Incarnations of one worker: their numbers, and how each ended; both in the data folder.

begin ─► incarnation 7; `last-end` says "without a word" ─► end("stopped") ─► it says that
▲ of life 6 it said: "engine died: …"
"""

from dataclasses import dataclass
from pathlib import Path

import structlog

from tasks.durable_files import replace_file

WITHOUT_A_WORD = "without a word: killed, out of memory, or its machine failed"
END_MAX = 1_000
"""Most characters that are kept of the text how an incarnation ended."""


@dataclass(frozen=True)
class Incarnation:
    """One incarnation of the worker of a data folder."""

    data_dir: Path
    incarnation: int
    previous_end: str = ""
    """How the incarnation before ended; empty: there was none, or it left no text."""

    def end(self, how: str) -> None:
        """Store for the next incarnation how this one ended.

        Without disk space for the text, the worker ends all the same.
        """
        try:
            replace_file(_last_end(self.data_dir), f"{how[:END_MAX].strip()}\n".encode())
        except OSError as error:
            structlog.get_logger().warning("the reason is not kept", why=str(error))


def begin_life(data_dir: Path, unix_ms: int) -> Incarnation:
    """Draw and store a number higher than all earlier numbers of this folder.

    The caller holds the lock of the folder.  The number is usually `unix_ms`, milliseconds since
    the epoch, so that the numbers of a lost folder do not start again at 1.

    Raises:
        OSError: the folder cannot be written; the stored number is unchanged.
    """
    stored = _text_of(data_dir / "incarnation")
    last = _text_of(_last_end(data_dir))
    drawn = max(int(stored or 0) + 1, unix_ms)
    replace_file(data_dir / "incarnation", f"{drawn}\n".encode())
    replace_file(_last_end(data_dir), f"{WITHOUT_A_WORD}\n".encode())
    return Incarnation(data_dir, drawn, last)


def _last_end(data_dir: Path) -> Path:
    return data_dir / "last-end"


def _text_of(path: Path) -> str:
    return path.read_text(errors="replace").strip() if path.exists() else ""
