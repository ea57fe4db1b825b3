"""Proofs in child processes: a few at once, with bounds on their time, memory and open files.

A process that shall stop gets SIGTERM, and SIGKILL if it has not ended after a grace.
"""

import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO

from supervisor.core.executions.plan import KILL_GRACE
from supervisor.ports.prover import Proof, ProofFailed, ProofRequest, ProofStopped

__all__ = ["ChildProver"]

_MODULE = "supervisor.verify.child"
_LOOK_S = 0.1
PROGRESS = ".progress"
"""The ending of the file of a proof that says how far it is: rows and offsets."""
_MORE_TIME = "set TIDEGATE_EXECUTIONS_CHILD_TIME to more"
_ERRORS_SHOWN = 300
_FILES_OUT = os.strerror(errno.EMFILE)


@dataclass
class ChildProver:
    """Starts one process per proof."""

    memory_bytes: int = 2 * 1024**3
    lasts: timedelta = timedelta(hours=6)
    files_max: int = 1024
    """How many files and connections it may have open."""
    at_once: int = 2
    argv: Sequence[str] = (sys.executable, "-m", _MODULE)
    started: Callable[[int], None] = lambda _: None
    """Called with the id of each process; for tests."""
    ended: Callable[[int], object] = lambda _: None
    """Called with the code with which each has ended; for tests."""
    moved: Callable[[int, int], None] = lambda _rows, _offsets: None
    """Called now and then with how many rows and offsets the proof has read, of one whose whole
    verdict is wanted."""
    _free: threading.Semaphore = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Nothing is started."""
        self._free = threading.Semaphore(self.at_once)

    def prove(
        self, request: ProofRequest, cancel: threading.Event, grace: timedelta = KILL_GRACE
    ) -> Proof | None:
        """Prove in a process of its own; see `ports.prover.Prover`.

        `grace`: from SIGTERM to SIGKILL.
        """
        while not self._free.acquire(timeout=_LOOK_S):
            if cancel.is_set():
                raise ProofStopped
        try:
            if cancel.is_set():
                raise ProofStopped
            with tempfile.TemporaryDirectory(prefix="tidegate-proof-") as folder:
                return self._prove(request, Path(folder), cancel, grace)
        finally:
            self._free.release()

    def _prove(
        self, request: ProofRequest, folder: Path, cancel: threading.Event, grace: timedelta
    ) -> Proof | None:
        place = folder / "request.json"
        place.write_text(json.dumps(asdict(request)))
        with (folder / "answer").open("w+b") as answer, (folder / "errors").open("w+b") as errors:
            with subprocess.Popen(
                [*self.argv, str(place), str(self.memory_bytes), str(self.files_max)],
                stdin=subprocess.PIPE,
                stdout=answer,
                stderr=errors,
                start_new_session=True,
            ) as child:
                try:
                    self.started(child.pid)
                    self._wait(child, cancel, grace, place.with_suffix(PROGRESS))
                finally:
                    child.kill()
                    self.ended(child.wait())
            return _read(child.returncode, answer, errors)

    def _wait(
        self,
        child: subprocess.Popen[bytes],
        cancel: threading.Event,
        grace: timedelta,
        progress: Path,
    ) -> None:
        until = time.monotonic() + self.lasts.total_seconds()
        while child.poll() is None:
            if progress.exists():
                rows, offsets = progress.read_text().split()
                self.moved(int(rows), int(offsets))
            if cancel.wait(_LOOK_S):
                child.terminate()
                with suppress(subprocess.TimeoutExpired):  # then it is killed
                    child.wait(grace.total_seconds())
                raise ProofStopped
            if time.monotonic() > until:
                raise ProofFailed(
                    "timeout", "the proof has taken too long", passes=False, fix=_MORE_TIME
                )


def _read(code: int | None, answer: IO[bytes], errors: IO[bytes]) -> Proof | None:
    answer.seek(0)
    text = answer.read()
    if code != 0 or not text:
        errors.seek(0)
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        why = lines[-1][:_ERRORS_SHOWN] if lines else "it said nothing"
        if "MemoryError" in why or "malloc" in why or not lines:
            why = f"{why}; it may have needed more memory than it may use"
            why = f"{why} (TIDEGATE_EXECUTIONS_CHILD_MEMORY)"
        elif _FILES_OUT in why:
            why = f"{why} (TIDEGATE_EXECUTIONS_CHILD_FILES)"
        raise ProofFailed("proof-ended", f"the proof ended with code {code}: {why}", passes=True)
    document = json.loads(text)
    if document.get("moved"):
        return None
    if "message" in document:
        fix = document.get("fix", "")
        raise ProofFailed(document["code"], document["message"], passes=document["passes"], fix=fix)
    numbers, whole = document["numbers"], document.get("whole")
    return Proof(document["proven"], document["summary"], numbers, whole)
