"""The handler of `task_output`: deletes unnamed files of ended tasks and compactions (P23).

    its worker has confirmed the stop ─► delete unnamed files ─► found empty ─► found empty
              ▲ not yet: later               ▲ again, if anything was     │  again: settled
              └────────────────              └────────────────────────────┘

A worker that was forgotten confirms nothing: nobody waits for it.  The looks are the queue's delay
apart.  The row, written before the first byte, is the write intent of a task or a compaction.

If a task published nothing, its whole folder is deleted.  If it published, every file is deleted
that is neither a segment nor its rejects file: batches that its merge has rewritten.  The files of
a STALE task stay for people.  Of a compaction every file is deleted that is not a segment.  A
folder without a row is deleted whole, if nothing in it is named.  The file of a condemned segment
is left to `segment-files`: an export that makes no progress may name it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import PurePosixPath

import structlog

from supervisor.chores.duty import QueueHandler
from supervisor.control.end_task import KIND, TASK_OUTPUT
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.planning.observed import Liveness, WorkerView
from supervisor.core.queue.events import QueuedEvent
from supervisor.core.tables.compaction import Compaction
from supervisor.core.values.ids import could_be_writer
from supervisor.core.values.table_names import name_problem
from supervisor.eventqueue.handling import Context, EventDone, Fail, Handled, Handling, Later, Retry
from supervisor.ports.store import Transaction, Workers
from supervisor.ports.tables.warehouse import Warehouse
from tasks.contract.messages import PublishOutcome

log = structlog.get_logger()

_DATA = "data"
_FOLDER_DEPTH = 3
_LOOK = "look"
_SECOND = "second"

Writer = Task | Compaction
"""The writer of a folder: its row was there before the folder."""


def folder_of(data_source: str, writer_id: str) -> str:
    """Return the folder of a task or a compaction, relative to the warehouse."""
    return f"{data_source}/{_DATA}/{writer_id}"


def keeps_files(writer: Writer) -> bool:
    """Whether the files have to stay, for people or for a newer release."""
    if writer.status is TaskStatus.UNKNOWN:
        return True
    return isinstance(writer, Task) and writer.outcome is PublishOutcome.STALE


def is_live(writer: Writer) -> bool:
    """Whether the task or compaction may still write."""
    return writer.active if isinstance(writer, Task) else writer.live


def writers(tx: Transaction, ids: Sequence[str]) -> dict[str, Writer]:
    """Return id -> task or compaction; the two never share an id."""
    return {**tx.tasks.rows_of(ids), **tx.compactions.rows_of(ids)}


class _FolderLook(Enum):
    """The result of one look at a folder."""

    EMPTY = auto()
    """The folder has no unnamed file."""
    DELETED = auto()
    NOT_OURS = auto()
    """A row says that the folder has to stay."""
    CUT_SHORT = auto()


@dataclass(frozen=True)
class _SeenWorkers:
    """The workers at the time of one look."""

    registered: frozenset[str]
    views: Mapping[str, WorkerView]

    def have_stopped(self, writer: Writer) -> bool:
        """Whether a writer runs no more, or its worker was forgotten, so that nobody waits."""
        forgotten = writer.worker_id not in self.registered
        return forgotten or has_stopped(writer, self.views.get(writer.worker_id))


@dataclass(frozen=True)
class TaskOutput:
    """The handler of task output; without state, and safe to run twice at once."""

    warehouse: Warehouse
    workers: Workers

    def handle(self, events: Sequence[QueuedEvent], context: Context) -> Handled:
        """Take one look at each folder.

        Raises:
            LeaseLost: another overlord leads; nothing was deleted.
            StorageUnavailable: no attempt is counted, and the batch waits.
        """
        require_mounted(self.warehouse, context.store)
        ids = [event.key for event in events]
        with context.store.leading(context.term) as tx:  # a deposed overlord deletes nothing
            rows = writers(tx, ids)
            registered = frozenset(worker.id for worker in tx.workers.all())
        views = {view.id: view for view in self.workers.views()}
        seen = _SeenWorkers(registered, views)
        answers = [self._answer(event, rows.get(event.key), seen, context) for event in events]
        settled = [
            event.key
            for event, answer in zip(events, answers, strict=True)
            if isinstance(answer, EventDone)
        ]
        return Handled(answers, lambda tx: _settle(tx, settled, context))

    def _answer(
        self,
        event: QueuedEvent,
        row: Writer | None,
        workers: "_SeenWorkers",
        context: Context,
    ) -> Handling:
        if event.kind != KIND:
            return Fail(f"events of kind {event.kind} are not known in this queue")
        if row is None:
            return self._of_nobody(event, context)
        if is_live(row) or keeps_files(row):
            return EventDone()  # live: its end queues it again; kept: for people
        if not workers.have_stopped(row):
            return Later(event.body, f"{row.worker_id} has not confirmed that it runs no more")
        return self._look(event, folder_of(row.data_source, row.id), context)

    def _of_nobody(self, event: QueuedEvent, context: Context) -> Handling:
        if "/" not in event.key:
            return EventDone()  # without the row the folder is unknown: the sweep finds it
        parts = event.key.split("/")
        if len(parts) != _FOLDER_DEPTH or parts[1] != _DATA or not _are_names(parts):
            return Fail(f"{event.key} is not the folder of a task or a compaction")
        return self._look(event, event.key, context)

    def _look(self, event: QueuedEvent, folder: str, context: Context) -> Handling:
        try:
            seen = self._delete_unnamed(event.key, folder, context)
        except OSError as error:
            self.warehouse.available()
            return Retry(f"{folder}: {error.strerror or error}")
        match seen:
            case _FolderLook.NOT_OURS:
                return EventDone()
            case _FolderLook.CUT_SHORT:
                return Later(event.body, "the overlord stops")
            case _FolderLook.DELETED:
                return Later({_LOOK: "again"}, "something was there, and more may come")
            case _FolderLook.EMPTY if event.body.get(_LOOK) == _SECOND:
                require_mounted(self.warehouse, context.store)  # it may have gone meanwhile
                return EventDone()
            case _FolderLook.EMPTY:
                return Later({_LOOK: _SECOND}, "found empty for the first time")

    def _delete_unnamed(self, key: str, folder: str, context: Context) -> _FolderLook:
        deleted = 0
        for path in self.warehouse.files_under(folder):
            if context.stopping():
                return _FolderLook.CUT_SHORT
            with context.store.reading() as tx:  # again for each file: a newly named one stays
                named = _named(tx, key, folder)
            if named is None:
                return _FolderLook.NOT_OURS
            if path not in named:
                self.warehouse.delete_file(path)
                deleted += 1
        with context.store.reading() as tx:
            if _named(tx, key, folder) is None:
                return _FolderLook.NOT_OURS
        pruned = self.warehouse.prune(folder)
        if deleted or pruned:
            log.info("deleted what was left behind", folder=folder, files=deleted)
        return _FolderLook.DELETED if deleted or pruned else _FolderLook.EMPTY


def _named(tx: Transaction, key: str, folder: str) -> frozenset[str] | None:
    """Return the files in a folder that have to stay; None: all of them."""
    named = set(tx.segments.under(folder))
    name = PurePosixPath(folder).name
    writer = writers(tx, [name]).get(name)
    if writer is None or folder_of(writer.data_source, writer.id) != folder:
        return None if named else frozenset()
    if key != writer.id or is_live(writer) or keeps_files(writer):  # a row was added or has changed
        return None
    if isinstance(writer, Task):
        named |= _rejects_of(tx, writer)
    return frozenset(named)


def _rejects_of(tx: Transaction, task: Task) -> set[str]:
    publication = tx.segments.publication(task.generation_id)
    assert publication is not None or not task.published, f"{task.id} has no publication"
    if publication is None or publication.task_id != task.id or publication.rejects is None:
        return set()
    return {publication.rejects.path}


def _settle(tx: Transaction, settled: Sequence[str], context: Context) -> None:
    for writer in writers(tx, settled).values():
        if is_live(writer) or keeps_files(writer):
            continue
        rows = tx.tasks if isinstance(writer, Task) else tx.compactions
        rows.folder_deleted(writer.id, context.now)


def _are_names(parts: Sequence[str]) -> bool:
    data_source, _, name = parts
    return name_problem(data_source) is None and could_be_writer(name)


def has_stopped(writer: Writer, worker: WorkerView | None) -> bool:
    """Whether the writer's incarnation confirmed its stop, was replaced, or never existed."""
    if isinstance(writer, Compaction) and not writer.worker_id:
        return True  # it never had a worker
    if worker is None:
        return False
    if worker.incarnation > writer.incarnation:
        return True
    reported = worker.reports if isinstance(writer, Task) else worker.compactions
    return worker.liveness is Liveness.ALIVE and writer.id not in reported


HANDLER = QueueHandler(
    TASK_OUTPUT,
    lambda w: TaskOutput(w.warehouse, w.registry).handle,
    lambda w: w.endings.config,
)
