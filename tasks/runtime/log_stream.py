"""Lossy log output: a full disk costs log lines, and nothing else."""

from contextlib import suppress
from typing import TextIO


class LossyStream:
    """A text stream that passes text on to `stream`, and drops text that `stream` cannot take.

    The log often lies on the disk that has just become full, and a thread that logs this must not
    end with an error.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write or drop the text; return its length."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the buffered text, or keep it if that fails."""
        with suppress(OSError):
            self._stream.flush()
