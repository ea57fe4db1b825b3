"""What may lie in the warehouse: files by name, and the folders that are not settled.

    active ──► writing          ended ──► pending ──► settled: nothing but named files is left
                                    └───► kept       its publish was judged STALE

    published file, no segment any more ──► condemned ──► deleted, and no part of Tidegate

A folder is that of a task or of a compaction, which ends with nothing to keep.  Each exported table
has one more, of the format's own: the one place where files need no name here.  Of a file with
other types than its table there may be copies, in a folder of that file's; those that an export
names are told by name.
Whatever is neither named here nor below one of these folders is no part of Tidegate.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from supervisor.core.compaction import Compaction
from supervisor.core.exports import Export, NotExportable, copies_of, files_of, log_of
from supervisor.core.model import NamedFile, Task, TaskStatus
from supervisor.declared import declared_of
from supervisor.export_events import sequence_of
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


class WarehouseCopy(Wire):
    """A copy that an exported table names, and that has to be there."""

    path: str
    rows: int


class WarehouseFiles(Wire):
    """All that may lie in the warehouse, as of one moment; paths are below `warehouse`."""

    warehouse: str
    files: list[WarehouseFile]
    writing: list[str]
    """Folders of active tasks, and of compactions that wait or run."""
    pending: list[str]
    """Folders of ended tasks and compactions that the event queue has not settled yet."""
    kept: list[str]
    """Folders that are left alone: of tasks whose publish was judged stale, for people to look at,
    and of what a newer release alone can judge."""
    condemned: list[str]
    """Files whose segments are deleted, and which the event queue has not deleted yet."""
    exports: list[str]
    """Folders of the exports' own files, also of those that are switched off: they stay."""
    copies: list[WarehouseCopy]
    """Those of tables with an export that is what the published list is."""
    copied: list[str]
    """Folders with copies of files that are still there: also those that no export names now."""


def warehouse_files(tx: Transaction, warehouse: str) -> WarehouseFiles:
    """Read everything in one transaction that gives one view."""
    unsettled = tx.tasks.unsettled_folders()
    compactions = tx.compactions.unsettled()
    kept: list[Task | Compaction] = [
        *(task for task in unsettled if task.outcome is PublishOutcome.STALE or _unknown(task)),
        *(each for each in compactions if _unknown(each)),
    ]
    left = {each.id for each in kept}
    files, condemned, exports = tx.segments.named_files(), _condemned(tx), tx.exports.all()
    return WarehouseFiles(
        warehouse=warehouse,
        files=[_told(file) for file in files],
        writing=_folders([*tx.tasks.active(), *(each for each in compactions if each.live)]),
        pending=_folders(
            [
                *(task for task in unsettled if task.id not in left),
                *(each for each in compactions if not each.live and each.id not in left),
            ]
        ),
        kept=_folders(kept),
        condemned=condemned,
        exports=sorted(log_of(each) for each in exports),
        copies=list(_copies(tx, exports)),
        copied=_copied([*(file.path for file in files), *condemned], exports),
    )


def _copies(tx: Transaction, exports: Iterable[Export]) -> Iterator[WarehouseCopy]:
    equal = {
        export.data_source
        for export in exports
        if export.enabled
        and not export.problem
        and export.sequence >= sequence_of(tx, export.data_source, export.format)
    }
    for data_source in sorted(equal):
        with suppress(NotExportable):  # the export tells of it itself
            segments = tx.segments.of_data_source(data_source)
            for file in files_of(data_source, segments, declared_of(tx, segments)):
                if file.casts:
                    yield WarehouseCopy(path=f"{data_source}/{file.path}", rows=file.rows)


def _copied(paths: Iterable[str], exports: Iterable[Export]) -> list[str]:
    tables = {export.data_source for export in exports}
    return sorted(copies_of(path) for path in paths if path.partition("/")[0] in tables)


def _unknown(writer: Task | Compaction) -> bool:
    return writer.status is TaskStatus.UNKNOWN


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
