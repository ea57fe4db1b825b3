"""A warehouse belongs to one metadata database: a marker in its root names it.

    marker of this database                       ours: go on
    no marker, no task folder                     new: mark it
    no marker, a task folder that we know         ours from before there were markers: mark it
    marker of another database, or folders that
      this one knows nothing of                   another's: refuse to start

Whoever deletes what no row stands for must know that the rows are the right ones: a fresh database
over the warehouse of another would find every file of it to be nobody's.
"""

from itertools import islice

from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.store import Store
from supervisor.ports.warehouse import MARKER, Warehouse
from supervisor.settings.problems import SetupProblem

_AT_ONCE = 500
_FIX = (
    "name the metadata database that knows these files in TIDEGATE_METADATA_URL, or another "
    "folder in TIDEGATE_WAREHOUSE; this database would have all of them deleted"
)


def take_possession(store: Store, warehouse: Warehouse) -> None:
    """Mark a warehouse as this database's, before anything in it is looked at.

    Raises:
        SetupProblem: it belongs to another metadata database.
        StorageUnavailable: it cannot be read.
    """
    with store.reading() as tx:
        name = tx.installation.name()
    owner = warehouse.owner()
    if owner == name:
        return
    if owner is not None:
        raise SetupProblem(
            f"the warehouse belongs to metadata database {owner}, this one is {name}", _FIX
        )
    if not _is_free_or_ours(store, warehouse):
        raise SetupProblem(
            f"the warehouse holds files of tasks that metadata database {name} has never heard of",
            _FIX,
        )
    warehouse.mark(name)


def _is_free_or_ours(store: Store, warehouse: Warehouse) -> bool:
    folders = warehouse.task_folders()
    free = True
    while batch := list(islice(folders, _AT_ONCE)):
        free = False
        with store.reading() as tx:
            if tx.tasks.rows_of([name for _, name in batch]):
                return True
    return free


def require_mounted(warehouse: Warehouse, store: Store) -> None:
    """Return if the warehouse answers and is the one that the database names files in.

    Raises:
        StorageUnavailable: it does not, or is not marked as this database's: nothing may be taken
            for deleted because a disk is away, and nothing of another database's be deleted.
    """
    warehouse.available()
    with store.reading() as tx:
        name = tx.installation.name()
    if (owner := warehouse.owner()) != name:
        marked = "has no marker" if owner is None else f"belongs to metadata database {owner}"
        raise StorageUnavailable(
            f"the warehouse {marked}, {MARKER} should name {name}: is it mounted?"
        )
