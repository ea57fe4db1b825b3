"""The row of this executor, renewed for as long as it lives, and who else is alive.

Only a fact lets one say that a runner is gone: its row was deleted by itself, has another life of
its name that has none of its results, or was not renewed for long enough.  While the database is
away nobody renews, so nobody is gone by that: who has not seen it whole for as long as a silence
lasts judges nothing.
"""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import structlog

from supervisor.core.executions.entities import Runner
from supervisor.executions.executor.repeating import Repeating
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.flows.executors import ExecutorDoing, ExecutorRegistry, ExecutorRow
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["DEAD_S", "RENEW_S", "SHOWN_S", "Registration"]

log = structlog.get_logger()

RENEW_S = 2.0
DEAD_S = 10.0
"""A row that was not renewed for this long is that of a dead process."""
SHOWN_S = 86_400.0
"""A row that was not renewed for longer is of a process that nobody waits for: no list has it."""


@dataclass
class Registration:
    """Safe to use from many threads."""

    registry: ExecutorRegistry
    runner: Runner
    url: str
    partitions: Callable[[], Sequence[int]]
    """Those that this process works now."""
    makes: Callable[[], Sequence[CallPlace]] = tuple
    """The calls that it makes now."""
    reason: Callable[[], str] = str
    """Why it is not well now; empty: it is."""
    offers: Callable[[], Sequence[str]] = tuple
    """Earlier lives of this name whose results are reported now: nobody shall count them lost."""
    renew_s: float = RENEW_S
    dead_s: float = DEAD_S
    monotonic: Callable[[], float] = time.monotonic
    superseded: bool = False
    """Whether a later process has taken the name of this one, which has to end."""
    _trouble: str = ""
    _renewed_at: float | None = None
    _whole_since: float | None = None
    """Since when the registry answers without a gap."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Prepare its thread; none is started."""
        self._renewing = Repeating("executor-registry", self.renew_s, self.renew)

    def start(self) -> None:
        """Register, and renew from now on.

        Raises:
            StoreAway, StoreRefuses: the database; nothing has begun.
        """
        self.registry.register(self.runner, self.url, ExecutorDoing(offers=self.offers()))
        self._note("")
        self._renewing.start()

    def stop(self) -> None:
        """Renew no more, and delete the row: what is still held here is lost from now on."""
        self._renewing.stop()
        try:
            self.registry.leave(self.runner)
        except (StoreAway, StoreRefuses) as error:
            log.warning("the row of this executor stays until it is too old", why=str(error))

    def renew(self) -> None:
        """Renew once."""
        doing = ExecutorDoing(self.partitions(), self.makes(), self.reason(), self.offers())
        try:
            lives = self.registry.renew(self.runner, self.url, doing)
        except (StoreAway, StoreRefuses) as error:
            self._note(str(error))
            return
        if not lives:
            self.superseded = True
            self._note(f"another executor has the name {self.runner.name}")
            return
        self._note("")

    @property
    def trouble(self) -> str:
        """Why the row is not renewed; empty: it is."""
        with self._lock:
            return self._trouble

    def gone(self, runners: Collection[Runner]) -> set[Runner]:
        """Return which of these are certainly gone.

        Raises:
            StoreAway, StoreRefuses: the database; nothing is known.
        """
        if not runners:
            return set()
        rows = {row.runner.name: row for row in self.registry.all()}
        return {each for each in runners if self._is_gone(each, rows.get(each.name))}

    def _is_gone(self, runner: Runner, row: ExecutorRow | None) -> bool:
        if row is not None and row.silent_s <= self.dead_s:
            return row.runner != runner and runner.incarnation not in row.doing.offers
        with self._lock:
            since = self._whole_since
        return since is not None and self.monotonic() - since > self.dead_s

    def _note(self, trouble: str) -> None:
        now = self.monotonic()
        with self._lock:
            late = self._renewed_at is None or now - self._renewed_at > self.dead_s
            if trouble:
                self._whole_since = None
            else:
                if late or self._whole_since is None:
                    self._whole_since = now
                self._renewed_at = now
            is_new, self._trouble = trouble != self._trouble, trouble
        if is_new and trouble:
            log.warning("the row of this executor is not renewed", why=trouble)
