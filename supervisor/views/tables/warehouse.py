"""The permitted contents of the warehouse: files by name, and folders that are not settled.

    active ──► writing          ended ──► pending ──► settled: nothing but named files is left
                                    └───► kept       its publish was judged STALE

    published file, no segment any more ──► condemned ──► deleted, and no part of Tidegate

Each task and each compaction has a folder; none of a compaction is kept for people.  Each exported
table has a folder of the format's own, in which files need no name here.  A file with other types
than its table may have copies, in a folder of their own; copies that an export needs are named.
A file that is neither named here nor below one of these folders is no part of Tidegate.
"""

from tasks.contract.wire import Wire


class WarehouseFile(Wire):
    """One file that the database names: a segment, used or not, or a rejects file."""

    path: str
    size_bytes: int
    sha256: str
    task_id: str
    """The task or compaction that wrote the file."""


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
    """Folders that are left alone: of tasks with a stale publish, for people to inspect, and of
    tasks that only a newer release can judge."""
    condemned: list[str]
    """Files of deleted segments that the event queue has not deleted yet."""
    exports: list[str]
    """Folders of the exports' own files, also of exports that are switched off."""
    copies: list[WarehouseCopy]
    """Copies for exports that equal the published list."""
    copied: list[str]
    """Folders of copies of existing files, also of copies that no export needs now."""
