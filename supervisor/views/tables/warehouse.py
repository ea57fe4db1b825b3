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

from tasks.contract.wire import Wire


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
