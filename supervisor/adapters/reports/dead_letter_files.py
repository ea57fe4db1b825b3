"""Dead letters as lines of files, a file a day, where there are no topics."""

import base64
import json
import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from supervisor.ports.reports.dead_letters import DeadLetter
from supervisor.ports.store_problems import StoreAway

__all__ = ["DeadLetterFiles"]


class DeadLetterFiles:
    """Implements `ports.reports.dead_letters.DeadLetters`; one process writes in a folder."""

    def __init__(self, folder: Path) -> None:
        """Keep letters below `folder`, which the first one creates."""
        self._folder = folder
        self._lock = threading.Lock()

    def put(self, letters: Sequence[DeadLetter]) -> None:
        """Append and sync; see the port."""
        lines = b"".join(_line_of(each) for each in letters)
        with self._lock:
            try:
                self._append(lines)
            except OSError as error:
                raise StoreAway(f"dead letters cannot be kept: {error}") from error

    def close(self) -> None:
        """Hold nothing open."""

    def _append(self, lines: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / f"{datetime.now(UTC):%Y-%m-%d}.jsonl"
        is_new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            # After a crash within a line the next one must not be joined to its half.
            if os.write(descriptor, b"\n" + lines) != len(lines) + 1:
                raise OSError("the disk took a part alone")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _line_of(letter: DeadLetter) -> bytes:
    line = {
        "at": datetime.now(UTC).isoformat(),
        "topic": letter.topic,
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": letter.reason,
        "key": None if letter.key is None else base64.b64encode(letter.key).decode(),
        "body": base64.b64encode(letter.body).decode(),
    }
    return json.dumps(line).encode() + b"\n"
