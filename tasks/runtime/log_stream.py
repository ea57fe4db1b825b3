"""Where a process writes its log: a full disk costs lines of it, and nothing else."""

from contextlib import suppress
from typing import TextIO


class LossyStream:
    """Passes text on to `stream`, and drops what that cannot take.

    A log often lies on the disk that has just become full; the thread that wants to say so must
    not end by it.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or drop; return how much there was to write."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write out what is buffered, or keep it."""
        with suppress(OSError):
            self._stream.flush()
