"""The sweep: finds leftover folders of tasks and compactions, and queues them for cleanup (P23).

    list folders ─► then read their rows ─► no row                 cluster's queue, by folder
                                            ended, not settled     its supervisor's queue
                                            settled, here again    same
                                            live, STALE            nothing

A row is written before the first byte of its folder.  The folders are listed before the rows are
read, so a listed folder without a row never gets one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice

import structlog

from supervisor.chores.duty import Duty
from supervisor.chores.each_table import each_table
from supervisor.chores.task_output import Writer, folder_of, is_live, keeps_files, writers
from supervisor.control.end_task import KIND, TASK_OUTPUT, TaskEnder, task_output_of
from supervisor.control.warehouse_owner import require_mounted
from supervisor.core.model.rows import Task, TaskStatus
from supervisor.core.queue.events import CLUSTER, QueuedEvent, QueueName
from supervisor.core.values.ids import could_be_writer
from supervisor.core.values.table_names import name_problem
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store, Transaction
from supervisor.ports.tables.warehouse import Warehouse

log = structlog.get_logger()

AT_ONCE = 500
"""The number of folders that one transaction looks up."""
STRANGE_SHOWN = 20

_Folder = tuple[str, str]


@dataclass(frozen=True)
class Swept:
    """The result of one sweep."""

    queued: int
    strange: tuple[str, ...] = ()
    """The first unknown folders, which no task or compaction can have made; they are left alone."""


@dataclass(frozen=True)
class Sweep:
    """One chore; `run_once` is safe to crash at any line and to repeat."""

    store: Store
    warehouse: Warehouse
    clock: Clock
    term: Callable[[], int]
    endings: TaskEnder

    def run_once(self) -> Swept:
        """Queue leftover folders, except those that are queued or set aside already.

        A table that fails, such as by a folder that cannot be read, holds up no other one.

        Raises:
            LeaseLost, Unavailable: queued folders stay queued; the next run goes on.
        """
        term = self.term()
        require_mounted(self.warehouse, self.store)
        strange: list[str] = []
        tables = self.warehouse.tables()
        work = ((table, partial(self._sweep_table, term, table, strange)) for table in tables)
        queued = each_table(DUTY.name, work)
        if queued or strange:
            log.info("swept the warehouse", queued=queued, strange=strange[:STRANGE_SHOWN])
        return Swept(queued, tuple(strange[:STRANGE_SHOWN]))

    def _sweep_table(self, term: int, table: str, strange: list[str]) -> int:
        """Queue leftover folders of one table; add unknown folders to `strange`."""
        queued = 0
        folders = self.warehouse.task_folders(table)
        while batch := list(islice(folders, AT_ONCE)):  # listed first, see the module's docstring
            possible = [folder for folder in batch if _could_be_ours(folder)]
            strange += [folder_of(*each) for each in batch if not _could_be_ours(each)]
            with self.store.reading() as tx:
                left = list(_left_behind(tx, possible))
            if left:
                queued += self._queue(term, possible)
        return queued

    def _queue(self, term: int, folders: Sequence[_Folder]) -> int:
        now = self.clock.now()
        with self.store.leading(term) as tx:
            # Read again: an event may have been handled or added since.
            left = list(_left_behind(tx, folders))
            for queue, key in left:
                self._add(tx, queue, key, now)
        return len(left)

    def _add(self, tx: Transaction, queue: QueueName, key: str, now: datetime) -> None:
        tx.events.add(queue, QueuedEvent(KIND, key), self.endings.config, now, exempt=True)


def _could_be_ours(folder: _Folder) -> bool:
    data_source, name = folder
    return name_problem(data_source) is None and could_be_writer(name)


def _left_behind(tx: Transaction, folders: Sequence[_Folder]) -> Iterator[tuple[QueueName, str]]:
    """Yield queue and key of each leftover folder without an outstanding event."""
    rows = writers(tx, [name for _, name in folders])
    known: dict[QueueName, frozenset[str]] = {}
    dead = {row.queue for row in tx.events.dead()}
    for data_source, name in folders:
        queue_and_key = _queue_and_key(tx, data_source, rows.get(name), name)
        if queue_and_key is None or queue_and_key[0] in dead:
            continue
        queue, key = queue_and_key
        if queue not in known:
            known[queue] = tx.events.outstanding_keys(queue)
        if key not in known[queue]:
            yield queue, key


def _queue_and_key(
    tx: Transaction, data_source: str, writer: Writer | None, name: str
) -> tuple[QueueName, str] | None:
    folder = folder_of(data_source, name)
    if writer is None or writer.data_source != data_source:
        # Named files without a row: a person has to find out why the row is gone.
        return None if tx.segments.under(folder) else (QueueName(CLUSTER, TASK_OUTPUT), folder)
    settled = writer.folder_deleted_at is not None
    if is_live(writer) or keeps_files(writer) or (settled and _has_files(writer)):
        return None
    return task_output_of(writer.supervisor_id), writer.id


def _has_files(writer: Writer) -> bool:
    """Whether the folder is expected to stay, because published files are in it."""
    if isinstance(writer, Task):
        return writer.published
    return writer.status is TaskStatus.SUCCESS


DUTY = Duty(
    "sweep",
    lambda w: Sweep(w.store, w.warehouse, w.clock, w.term, w.endings),
    lambda settings: settings.sweep_period,
    at_once=True,
)
