"""A record handed to the sender, by a thread that has other things to do."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from bench.result import Budget, Result, Spread, spread
from bench.world import World
from tasks.reporting.record import RecordOrigin, RecordType, ReportRecord, record_id_of
from tasks.sending.sender import Sender
from tasks.sending.spool import Spool
from tasks.sending.transport import Outgoing, TransportAway

NAME = "report-offer"
_PERIOD_S = 0.000_5
"""Between two offers: 2,000 a second, of which a worker makes a few."""
_TEXT = "x" * 1_000


class _Nowhere:
    """A transport that takes all, or hangs."""

    refused_total = 0

    def __init__(self, *, hangs: bool) -> None:
        self._free = Event()
        if not hangs:
            self._free.set()

    def send(self, batch: Sequence[Outgoing]) -> None:
        """Return at once, or wait until it is closed."""
        del batch
        if not self._free.is_set():
            self._free.wait()
            raise TransportAway("it was closed")

    def close(self) -> None:
        """Let go of what hangs."""
        self._free.set()


class _Spool(Spool):
    """A spool, or one whose disk hangs."""

    def __init__(self, folder: Path, *, hangs: bool) -> None:
        super().__init__(folder)
        self.free = Event()
        if not hangs:
            self.free.set()

    def append(self, records: Iterable[bytes]) -> int:
        """Write, once the disk goes on."""
        self.free.wait()
        return super().append(records)


def run(world: World) -> Result:
    """Offer records while all is well, while the store hangs, and while the disk hangs."""
    number = world.sizes.offers
    folder = world.folder(NAME)
    well = _offers(folder / "well", number)
    store = _offers(folder / "store", number, store_hangs=True)
    disk = _offers(folder / "disk", number, disk_hangs=True)
    worst = max((well, store, disk), key=lambda each: each.percentile(0.99))
    return Result(
        NAME,
        worst.percentile(0.99),
        "us",
        budget=Budget(50),
        how=(
            f"99th percentile of the worst of three runs of {number:,} offers of a record of 1 kB, "
            "2,000 a second: all is well, the store hangs, the disk hangs; the writer and the "
            "shipper run beside it"
        ),
        notes=(
            f"all is well: {well.told('us')}",
            f"the store hangs: {store.told('us')}",
            f"the disk hangs: {disk.told('us')}",
        ),
    )


def _offers(
    folder: Path, number: int, *, store_hangs: bool = False, disk_hangs: bool = False
) -> Spread:
    spool = _Spool(folder, hangs=disk_hangs)
    transport = _Nowhere(hangs=store_hangs)
    sender = Sender(spool, None, transport, lambda _: _record(0))
    sender.start()
    records = [_record(seq) for seq in range(number)]
    taken = []
    for record in records:
        began = time.perf_counter()
        sender.offer(record, 1_300)
        taken.append((time.perf_counter() - began) * 1e6)
        time.sleep(_PERIOD_S)
    spool.free.set()
    transport.close()
    sender.stop()
    return spread(taken)


def _record(seq: int) -> ReportRecord:
    kind = RecordType.TASK_REPORT if seq % 2 else RecordType.PROGRESS
    return ReportRecord(
        type=kind,
        record_id=record_id_of("task-1", 0, kind, seq),
        subject="task-1",
        origin=RecordOrigin.STREAM,
        at=datetime(2026, 1, 5, 12, tzinfo=UTC),
        seq=seq,
        payload={"text": _TEXT},
    )
