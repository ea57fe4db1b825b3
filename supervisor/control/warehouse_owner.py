"""The owner of a warehouse: a marker in its root names the one metadata database it belongs to.

    marker of this database                       ours: go on
    no marker, no task folder                     new: mark it
    no marker, a task folder that we know         ours, older than the markers: mark it
    marker of another database, or only folders
      that are unknown here                       another's: refuse to start

The sweep deletes files without a row, so it must use the right rows.  To a fresh database, every
file in the warehouse of another database would look like garbage.
"""

from itertools import islice

from supervisor.core.values.errors import StorageUnavailable
from supervisor.ports.store import Store
from supervisor.ports.tables.warehouse import MARKER, Warehouse
from supervisor.settings.problems import SetupProblem

_AT_ONCE = 500
_FIX = (
    "name the metadata database that knows these files in TIDEGATE_METADATA_URL, or another "
    "folder in TIDEGATE_WAREHOUSE; this database would have all of them deleted"
)


def take_possession(store: Store, warehouse: Warehouse) -> None:
    """Mark a warehouse as this database's, before anything in it is read.

    Raises:
        SetupProblem: the warehouse belongs to another metadata database.
        StorageUnavailable: the warehouse cannot be read.
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
    """Return if the warehouse answers and is the one that belongs to this metadata database.

    Raises:
        StorageUnavailable: the warehouse does not answer, or is not marked as this database's.
            Files on a missing disk are not deleted ones, and another database's must stay.
    """
    warehouse.available()
    with store.reading() as tx:
        name = tx.installation.name()
    if (owner := warehouse.owner()) != name:
        marked = "has no marker" if owner is None else f"belongs to metadata database {owner}"
        raise StorageUnavailable(
            f"the warehouse {marked}, {MARKER} should name {name}: is it mounted?"
        )
