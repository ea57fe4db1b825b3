"""Options of a worker process: names, folders, addresses, bounds with their units."""

import ssl
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from tasks.contract.connection_policy import ConnectionPolicy
from tasks.machine.pacing import Limits


@dataclass(frozen=True)
class WorkerOptions:
    """One worker process; two of them never share a `data_dir`."""

    worker_id: str
    data_dir: Path
    """Folder of the lock, the incarnation and the journals."""
    warehouse: str
    """Folder or URL below which the engine writes."""
    overlords: tuple[str, ...]
    """Base addresses, tried in turn."""
    host: str = "127.0.0.1"
    port: int = 8091
    """Port of the control API; 0 lets the system choose."""
    advertised_host: str | None = None
    """Host that overlords call.  None: `host`, or this machine's name if `host` means every
    address."""
    slots: int = 4
    """How many tasks may read at once; the overlord assigns no more."""
    finishing_slots: int | None = None
    """How many tasks may finish (read the rest, merge, publish) at once; None: as many as slots."""
    connections: ConnectionPolicy = field(default_factory=ConnectionPolicy)
    """The operator's rules for the connections of tasks and samples."""
    token: str | None = field(default=None, repr=False)
    """Token that the worker sends to overlords that authenticate their callers."""
    tls: ssl.SSLContext | bool = True
    """The authorities that the worker trusts for overlords; True: the system's authorities."""
    lists_to_anybody: bool = True
    """Whether the control API lists its tasks without the token above: on loopback only."""
    limits: Limits = field(default_factory=Limits)
    long_poll: timedelta = timedelta(seconds=10)
    """How long an overlord may hold a sync without news."""
    report_period: timedelta = timedelta(seconds=1)
    report_period_min: timedelta = timedelta(milliseconds=200)
    """Reports are sent no more often, however much changes."""
    stop_grace: timedelta = timedelta(seconds=4)
    """A batch that still runs this long after a stop was requested is cancelled."""
    stop_timeout: timedelta = timedelta(seconds=15)
    """The process ends at the latest this long after a stop was requested."""
    alive_period: timedelta = timedelta(seconds=1)
    """Period in which the engine's process is checked."""
    connections_per_address: int = 250
    """Most connections of one address that the control API serves."""
    threads_max: int = 16
    """Most requests that the control API serves at once."""

    @property
    def poll_timeout(self) -> timedelta:
        """How long a job waits for a broker.

        A job that waits so long a few times in a row must not count as stuck (P21).
        """
        return timedelta(seconds=min(30.0, self.limits.progress_s / 6))

    @property
    def finishing(self) -> int:
        """How many tasks may finish at once."""
        return self.slots if self.finishing_slots is None else self.finishing_slots


def limits_within(overlords_timeout: timedelta) -> Limits:
    """Return limits with which a stuck job ends before overlords replace its task."""
    seconds = overlords_timeout.total_seconds()
    return Limits(progress_s=seconds * 0.6, give_up_s=min(60.0, seconds * 0.2))
