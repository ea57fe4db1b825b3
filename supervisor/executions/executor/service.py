"""An executor: a member of the group, the owners of its partitions, and a runner of calls.

    start ─► prepare, register ─► join the group, take calls, look after losses
             └ away: again, for as long as it takes; refused: the process ends and says why
             (with results of a former life it registers first: nobody shall count them lost)
    stop  ─► take no more calls ─► give the partitions up ─► end the calls ─► leave the registry

Calls that end after their partition was given up are reported by the history, to its next owner.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from supervisor.executions.executor.abroad import CallsAbroad
from supervisor.executions.executor.losses import LossWatch
from supervisor.executions.executor.registration import Registration
from supervisor.executions.executor.repeating import Repeating
from supervisor.executions.executor.results import EACH_S as RESULTS_EACH_S
from supervisor.executions.executor.results import WaitingResults
from supervisor.executions.projector import Projector
from supervisor.executions.runner import CallRunner
from supervisor.executions.sequencer.counts import Counted, OwnerCounts
from supervisor.executions.sequencer.owners import OwnedPartition, PartitionOwners
from supervisor.ports.flows.execution_log import LogAway, LogRefuses
from supervisor.ports.flows.executions import CallPlace
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["Executor", "ExecutorParts", "ExecutorView", "Membership", "OwnedView"]

log = structlog.get_logger()

EACH_S = 1.0
_AGAIN_S, _AGAIN_MAX_S = 0.5, 10.0
_LEAVE_S, _DRAIN_S = 2.0, 5.0


class Membership(Protocol):
    """The way into and out of the group of executors."""

    @property
    def trouble(self) -> str:
        """Why the brokers cannot be reached; empty: they can."""
        ...

    def start(self) -> None:
        """Join."""
        ...

    def stop(self, within_s: float = 15.0) -> None:
        """Leave."""
        ...


@dataclass(frozen=True)
class ExecutorParts:
    """The parts of an executor."""

    prepare: Callable[[], None]
    """Looks whether all is as it has to be; raises LogRefuses (this process is of no use), LogAway,
    StoreAway, StoreRefuses (again later: an overlord may upgrade the database meanwhile)."""
    owners: PartitionOwners
    member: Membership
    runner: CallRunner
    registration: Registration
    losses: LossWatch
    abroad: CallsAbroad
    counts: OwnerCounts
    projector: Projector
    results: WaitingResults


@dataclass(frozen=True)
class OwnedView:
    """One partition of this process."""

    partition: int
    position: int | None
    """The offset of the history that is read next; None: its first."""
    lag: int | None
    """Records of the history that are not worked in; None: not known yet."""
    projection_lag: int | None
    """Records of the state that the tables do not know; None: not known yet."""
    waiting: int
    """Calls that wait for a runner."""
    executions: int
    """Those that are held in memory, ended ones too, until they are purged."""
    trouble: str
    """Why it does not go on; empty: it does."""


@dataclass(frozen=True)
class ExecutorView:
    """An executor now."""

    name: str
    incarnation: str
    reason: str
    """Why it is not well; empty: it is."""
    partitions: Sequence[OwnedView]
    makes: Sequence[CallPlace]
    counts: Mapping[Counted, int]
    lost: int
    kept: int
    """Results that nobody has taken yet, in its file."""


@dataclass
class Executor:
    """One process; used once."""

    parts: ExecutorParts
    _trouble: str = "it has not begun yet"
    refused: str = ""
    """Why it can never begin; empty: nothing prevents it for good."""
    _ending: threading.Event = field(default_factory=threading.Event)
    _began: bool = False
    _registered: bool = False

    def __post_init__(self) -> None:
        """Prepare its threads; none is started."""
        self._beginning = threading.Thread(target=self._begin, name="executor-start", daemon=True)
        self._duties = [
            Repeating("executor-losses", EACH_S, self.parts.losses.run_once),
            Repeating("executor-abroad", EACH_S, self.parts.abroad.run_once),
            Repeating("executor-results", RESULTS_EACH_S, self.parts.results.run_once),
        ]
        self.parts.registration.reason = lambda: self.view().reason

    def start(self) -> None:
        """Begin, as soon as all is there."""
        self._beginning.start()

    def stop(self) -> None:
        """Give everything up, in the order that loses nothing."""
        self._ending.set()
        self._beginning.join(_LEAVE_S)
        if not self._began:
            if self._registered:
                self.parts.registration.stop()
            return
        self.parts.runner.drain()
        for duty in self._duties[:-1]:
            duty.stop()
        self.parts.member.stop(_LEAVE_S)
        self.parts.projector.stop(_LEAVE_S)
        self.parts.runner.stop(_DRAIN_S)
        self._duties[-1].stop()
        self.parts.results.close()
        self.parts.registration.stop()

    def ended(self) -> list[str]:
        """Return why this process must end; nothing: it need not."""
        if self.refused:
            return [self.refused]
        return [self.parts.registration.trouble] if self.parts.registration.superseded else []

    def view(self) -> ExecutorView:
        """Return how it is now."""
        lag, troubles = self.parts.projector.lag(), self.parts.projector.troubles()
        partitions = [
            _view(each, lag.get(number), troubles.get(number, ""))
            for number, each in sorted(self.parts.owners.owned().items())
        ]
        runner = self.parts.runner.runner
        return ExecutorView(
            runner.name,
            runner.incarnation,
            self._reason(partitions),
            partitions,
            self.parts.runner.makes,
            self.parts.counts.all(),
            self.parts.losses.lost,
            self.parts.results.kept,
        )

    def _reason(self, partitions: Sequence[OwnedView]) -> str:
        parts = self.parts
        whole = (parts.registration.trouble, parts.member.trouble, parts.results.trouble)
        for trouble in (self._trouble, *whole):
            if trouble:
                return trouble
        troubles = [f"partition {one.partition}: {one.trouble}" for one in partitions]
        return "; ".join(
            text for text, one in zip(troubles, partitions, strict=True) if one.trouble
        )

    def _begin(self) -> None:
        pause_s = _AGAIN_S
        self.parts.results.open()
        while not self._ending.is_set():
            try:
                if self.parts.results.kept:
                    self._register()
                self.parts.prepare()
                self._register()
                break
            except (LogAway, StoreAway, StoreRefuses) as error:
                self._wait(str(error))
            except LogRefuses as error:
                self.refused = str(error)
                return
            except Exception as error:
                log.exception("the executor cannot begin")
                self._wait(f"{type(error).__name__}: {error}")
            self._ending.wait(pause_s)
            pause_s = min(pause_s * 2, _AGAIN_MAX_S)
        else:
            return
        self.parts.projector.start()
        self.parts.member.start()
        self.parts.runner.start()
        for duty in self._duties:
            duty.start()
        self._began, self._trouble = True, ""
        log.info("the executor works", name=self.parts.runner.runner.name)

    def _register(self) -> None:
        if not self._registered:
            self.parts.registration.start()
            self._registered = True

    def _wait(self, why: str) -> None:
        if why != self._trouble:
            log.warning("the executor waits", why=why)
        self._trouble = why


def _view(owned: OwnedPartition, projection_lag: int | None, not_projected: str) -> OwnedView:
    owner, number = owned.owner, owned.partition
    if owner is None:
        why = owned.trouble or "being taken over"
        return OwnedView(number, None, None, projection_lag, 0, 0, why)
    held = owner.held
    return OwnedView(
        number,
        held.position.next,
        owner.lag,
        projection_lag,
        owner.waiting,
        len(held.restored.executions),
        owned.trouble or not_projected,
    )
