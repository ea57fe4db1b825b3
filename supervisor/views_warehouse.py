"""What may lie in the warehouse: files by name, and the folders that are not settled.

    active ──► writing          ended ──► pending ──► settled: nothing but named files is left
                                    └───► kept       its publish was judged STALE

    published file, no segment any more ──► condemned ──► deleted, and no part of Tidegate

A folder is that of a task or of a compaction, which ends with nothing to keep.  Each exported table
has one more, of the format's own: the one place where files need no name here.
Whatever is neither named here nor below one of these folders is no part of Tidegate.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath

from supervisor.core.compaction import Compaction
from supervisor.core.exports import own_folders
from supervisor.core.model import NamedFile, Task
from supervisor.ports import Transaction
from supervisor.segment_life import SEGMENT_FILES
from tasks.contract import PublishOutcome
from tasks.wire import Wire


class WarehouseFile(Wire):
    """One file that the database names: a segment, used or not, or a rejects file."""

    path: str
    size_bytes: int
    sha256: str
    task_id: str
    """The task, or the compaction, that wrote it."""


class WarehouseFiles(Wire):
    """All that may lie in the warehouse, as of one moment; paths are below `warehouse`."""

    warehouse: str
    files: list[WarehouseFile]
    writing: list[str]
    """Folders of active tasks, and of compactions that wait or run."""
    pending: list[str]
    """Folders of ended tasks and compactions that the event queue has not settled yet."""
    kept: list[str]
    """Folders of tasks whose publish was judged stale: they are for people to look at."""
    condemned: list[str]
    """Files whose segments are deleted, and which the event queue has not deleted yet."""
    exports: list[str]
    """Folders of the exports' own files, also of those that are switched off: they stay."""


def warehouse_files(tx: Transaction, warehouse: str) -> WarehouseFiles:
    """Read everything in one transaction that gives one view."""
    unsettled = tx.tasks.unsettled_folders()
    stale = [task for task in unsettled if task.outcome is PublishOutcome.STALE]
    kept = {task.id for task in stale}
    compactions = tx.compactions.unsettled()
    return WarehouseFiles(
        warehouse=warehouse,
        files=[_told(file) for file in tx.segments.named_files()],
        writing=_folders([*tx.tasks.active(), *(each for each in compactions if each.live)]),
        pending=_folders(
            [
                *(task for task in unsettled if task.id not in kept),
                *(each for each in compactions if not each.live),
            ]
        ),
        kept=_folders(stale),
        condemned=_condemned(tx),
        exports=sorted({folder for each in tx.exports.all() for folder in own_folders(each)}),
    )


def _folders(writers: Iterable[Task | Compaction]) -> list[str]:
    return [str(PurePosixPath(each.data_source, "data", each.id)) for each in writers]


def _condemned(tx: Transaction) -> list[str]:
    """Return also those whose deletion was set aside: they go when somebody has it retried."""
    queues = [row.queue for row in tx.events.all() if row.queue.name == SEGMENT_FILES]
    waiting = [tx.events.outstanding_keys(queue) for queue in queues]
    return tx.segments.paths_of(frozenset().union(*waiting))


def _told(file: NamedFile) -> WarehouseFile:
    return WarehouseFile(
        path=file.path, size_bytes=file.size_bytes, sha256=file.sha256, task_id=file.task_id
    )
