"""Notes of the batches that run, on disk, and the suspects that a sudden end makes of them.

    <data dir>/running/<task id>.json    a batch that runs; removed when it has ended
    <data dir>/suspects.json             see `tasks/machine/suspects.py`

A note is not synced: it has to outlive the processes, and not the machine.  Without space for a
note, the batch runs all the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import structlog
from pydantic import ValidationError

from tasks.contract.messages import DesiredTask
from tasks.contract.wire import Wire
from tasks.durable_files import make_private, replace_file
from tasks.machine.events import ReadBatch
from tasks.machine.suspects import (
    ENGINE_DIED,
    PROCESS_DIED,
    RunningBatch,
    Suspect,
    blamed,
    cleared,
)
from tasks.ports import BatchCancelled, StreamTimeout

_SUFFIX = ".json"


def running(task: DesiredTask, read: ReadBatch) -> RunningBatch:
    """Return the note of a batch that a task begins."""
    return RunningBatch(
        task_id=task.task_id,
        supervisor_id=task.supervisor_id,
        start=dict(read.start),
        reach=dict(read.reach),
        alone=read.care.exclusive,
    )


class _Stored(Wire):
    suspects: tuple[Suspect, ...] = ()


class BatchNotes:
    """The running batches and the suspects of one data folder; safe to call from many threads."""

    def __init__(self, data_dir: Path | None = None) -> None:
        """Blame the batches that ran when an earlier process ended; None: keep nothing on disk."""
        self._folder = None if data_dir is None else data_dir / "running"
        self._path = None if data_dir is None else data_dir / "suspects.json"
        self._lock = Lock()
        self._running: dict[str, RunningBatch] = {}
        self._closed = False
        self._suspects = self._stored()
        left_over = self._left_over()
        self._blame(left_over, PROCESS_DIED)
        for task_id in left_over:
            self._remove(task_id)

    def suspects_of(self, supervisor_id: str) -> tuple[Suspect, ...]:
        """Return the suspects of one supervisor."""
        return tuple(s for s in self._suspects if s.supervisor_id == supervisor_id)

    @contextmanager
    def noted(
        self, batch: RunningBatch, *, alive: Callable[[], bool], dead: Callable[[], bool]
    ) -> Iterator[None]:
        """Note a batch while the body reads it, and clear its offsets after the body.

        `alive` is whether the engine's process runs, `dead` the contrary, after some patience.
        After an error of a dead engine the note stays.  A batch that waits for its turn waits for
        this answer too: else it would seem to have run when the process ended.
        """
        if alive():  # else the batch that runs now is not to blame
            self._begin(batch)
        try:
            yield
        except (BatchCancelled, StreamTimeout):
            self._forget(batch.task_id)
            raise
        except Exception:
            if not dead():
                self._forget(batch.task_id)
            raise
        self._end(batch)

    def _forget(self, task_id: str) -> None:
        with self._lock:
            if not self._closed and self._running.pop(task_id, None) is not None:
                self._remove(task_id)

    def close(self, *, engine_died: bool) -> None:
        """Note no more batches; blame those that run if the engine's process has died."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if engine_died:
                self._blame(self._running, ENGINE_DIED)
            for task_id in self._running:
                self._remove(task_id)

    def _begin(self, batch: RunningBatch) -> None:
        with self._lock:
            if self._closed:
                return
            self._running[batch.task_id] = batch
            if self._folder is not None:
                path = self._folder / f"{batch.task_id}{_SUFFIX}"
                half = path.with_suffix(".new")
                with suppress(OSError):
                    make_private(self._folder)
                    half.write_text(batch.to_json())
                    half.replace(path)

    def _end(self, batch: RunningBatch) -> None:
        self._forget(batch.task_id)
        with self._lock:
            if self._suspects and (left := cleared(self._suspects, batch)) != self._suspects:
                self._keep(left)

    def _blame(self, batches: dict[str, RunningBatch], weight: int) -> None:
        if not batches:
            return
        self._keep(blamed(self._suspects, tuple(batches.values()), weight))
        for suspect in self._suspects[-len(batches) :]:
            facts = {"supervisor": suspect.supervisor_id, "offsets": str(suspect)}
            log = structlog.get_logger().bind(**facts, ends=suspect.ends)
            log.warning("the engine's process ended while this was read: it is read alone now")

    def _keep(self, suspects: tuple[Suspect, ...]) -> None:
        self._suspects = suspects
        if self._path is None:
            return
        try:
            replace_file(self._path, _Stored(suspects=suspects).to_json().encode())
        except OSError as error:
            structlog.get_logger().warning("the suspects are not kept", why=str(error))

    def _stored(self) -> tuple[Suspect, ...]:
        if self._path is None or not self._path.exists():
            return ()
        try:
            return _Stored.from_json(self._path.read_bytes()).suspects
        except (OSError, ValidationError) as error:
            structlog.get_logger().warning("the suspects cannot be read", why=str(error))
            return ()

    def _left_over(self) -> dict[str, RunningBatch]:
        if self._folder is None or not self._folder.is_dir():
            return {}
        notes = {}
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            try:
                notes[path.name.removesuffix(_SUFFIX)] = RunningBatch.from_json(path.read_bytes())
            except (OSError, ValidationError):  # half a note, after the machine has failed
                path.unlink(missing_ok=True)
        return notes

    def _remove(self, task_id: str) -> None:
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / f"{task_id}{_SUFFIX}").unlink(missing_ok=True)
