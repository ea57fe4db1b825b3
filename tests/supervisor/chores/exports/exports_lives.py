"""A process that exports one table, and that a test has killed where it says."""

import multiprocessing
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path

from supervisor.adapters.manual_clock import ManualClock
from supervisor.adapters.tables.delta import DeltaFormat
from supervisor.adapters.tables.iceberg import IcebergFormat
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.adapters.tables.widened_copies import LocalCopies
from supervisor.chores.exports import Exporting
from supervisor.control.export_outbox import EXPORTS
from supervisor.core.tables.exports import queue_of
from supervisor.core.values.export_formats import ExportFormat
from supervisor.eventqueue.meters import Meters
from supervisor.eventqueue.processor import EventProcessor, ProcessorParts
from supervisor.metadata.store import SqlStore
from supervisor.ports.tables.exports import TableFormat
from tasks.runtime.failpoints import VARIABLE, reach_of
from tests.conformance.stories import LEASE_TTL
from tests.supervisor.chores.exports.exports import Harbour
from tests.supervisor.core.snapshots import TOPIC


@dataclass(frozen=True)
class Life:
    """What the process is told."""

    metadata_url: str
    catalog_url: str
    root: Path
    term: int
    now: datetime
    table_format: ExportFormat
    failpoint: str

    def live(self) -> int | None:
        """Run it to its end; return its exit code."""
        process: BaseProcess = multiprocessing.get_context("spawn").Process(
            target=_exports, args=(self,)
        )
        process.start()
        process.join(60)
        assert not process.is_alive(), "it hangs"
        return process.exitcode


def _exports(life: Life) -> None:
    store = SqlStore(life.metadata_url, lease_ttl=LEASE_TTL)
    tables: dict[ExportFormat, TableFormat] = {
        ExportFormat.DELTA: DeltaFormat(life.root),
        ExportFormat.ICEBERG: IcebergFormat(life.root, life.catalog_url),
    }
    reach = reach_of({VARIABLE: life.failpoint})
    handler = Exporting(
        life.table_format,
        tables[life.table_format],
        LocalWarehouse(life.root),
        LocalCopies(life.root, reach),
        reach,
    )
    kit = ProcessorParts(store, ManualClock(life.now), lambda: life.term, Meters())
    queue = queue_of(TOPIC, life.table_format)
    processor = EventProcessor(queue, EXPORTS, handler, kit)
    while processor.run_once() == timedelta(0):
        pass
    store.close()


def life_of(harbour: Harbour, url: str, table_format: ExportFormat, failpoint: str) -> Life:
    """A process that handles what waits in the queue of an export, and may end at a failpoint."""
    return Life(
        metadata_url=url,
        catalog_url=harbour.catalog_url,
        root=harbour.root,
        term=harbour.leadership.term(),
        now=harbour.clock.now(),
        table_format=table_format,
        failpoint=failpoint,
    )
