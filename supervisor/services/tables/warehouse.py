"""The files that may lie in the warehouse, read from the rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from supervisor.chores.file_lists import listed
from supervisor.chores.segments import SEGMENT_FILES
from supervisor.control.declared_types import declared_of
from supervisor.control.export_outbox import sequence_of
from supervisor.core.model.listed_segments import SegmentKey
from supervisor.core.model.rows import NamedFile, Task, TaskStatus
from supervisor.core.tables.compaction import Compaction
from supervisor.core.tables.exports import Export, copies_of, files_of, log_of
from supervisor.core.values.errors import NotExportable
from supervisor.ports.store import Store, Transaction
from supervisor.views.tables.warehouse import WarehouseCopy, WarehouseFile, WarehouseFiles
from tasks.contract.messages import PublishOutcome


def warehouse_files(store: Store, warehouse: str) -> WarehouseFiles:
    """Return these files and folders as one transaction names them, so that they fit together."""
    with store.reading() as tx:
        unsettled = tx.tasks.unsettled_folders()
        compactions = tx.compactions.unsettled()
        active, exports = tx.tasks.active(), tx.exports.all()
        files, condemned = tx.segments.named_files(), _condemned(tx)
        exported = _keys_of_exported(tx, exports)
    kept: list[Task | Compaction] = [
        *(task for task in unsettled if task.outcome is PublishOutcome.STALE or _unknown(task)),
        *(each for each in compactions if _unknown(each)),
    ]
    left = {each.id for each in kept}
    return WarehouseFiles(
        warehouse=warehouse,
        files=[_to_warehouse_file(file) for file in files],
        writing=_folders([*active, *(each for each in compactions if each.live)]),
        pending=_folders(
            [
                *(task for task in unsettled if task.id not in left),
                *(each for each in compactions if not each.live and each.id not in left),
            ]
        ),
        kept=_folders(kept),
        condemned=condemned,
        exports=sorted(log_of(each) for each in exports),
        copies=list(_copies(store, exported)),
        copied=_copied([*(file.path for file in files), *condemned], exports),
    )


def _keys_of_exported(tx: Transaction, exports: Iterable[Export]) -> dict[str, list[SegmentKey]]:
    """Return table -> keys of its used segments, for tables whose exported table equals them."""
    equal = {
        export.data_source
        for export in exports
        if export.enabled
        and not export.problem
        and export.sequence >= sequence_of(tx, export.data_source, export.format)
    }
    return {each: tx.segments.keys(each, used=True) for each in sorted(equal)}


def _copies(store: Store, exported: Mapping[str, Sequence[SegmentKey]]) -> Iterator[WarehouseCopy]:
    for data_source, keys in exported.items():
        with suppress(NotExportable):  # the export itself names it
            segments = listed(store, keys)
            for file in files_of(data_source, segments, declared_of(store, segments)):
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
    """Return the condemned files, also those whose deletion was set aside: people may retry it."""
    queues = [row.queue for row in tx.events.all() if row.queue.name == SEGMENT_FILES]
    waiting = [tx.events.outstanding_keys(queue) for queue in queues]
    return tx.segments.paths_of(frozenset().union(*waiting))


def _to_warehouse_file(file: NamedFile) -> WarehouseFile:
    return WarehouseFile(
        path=file.path, size_bytes=file.size_bytes, sha256=file.sha256, task_id=file.task_id
    )
