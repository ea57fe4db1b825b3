"""The partitions that this process owns: a thread for each, from the take-over to the end.

    begin ─► take_over ─► turn, turn, ... ─► leave
                ▲             │ fenced, away, in doubt: after a pause, as long as it is ours
                └─────────────┘

A slow former owner may fence the right one.  Then the right one, whose partition it still is, takes
it over once more; the former one has heard meanwhile that it is not its any more.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import structlog

from supervisor.core.executions.records import NewerRecord, UnreadableRecord
from supervisor.executions.sequencer.loop import PartitionOwner
from supervisor.ports.flows.execution_log import LogAborted, LogAway, LogFenced, LogRefuses
from supervisor.ports.store_problems import StoreAway, StoreRefuses

__all__ = ["OwnedPartition", "PartitionLeft", "PartitionOwners"]

log = structlog.get_logger()

LEAVE_WITHIN_S = 5.0
"""To finish or give up a transaction, so that the next owner may begin."""
_AGAIN_S = 1.0
_AGAIN_MAX_S = 10.0
_WAITS_S = 1.0
_TROUBLES = (
    LogAborted,
    LogAway,
    LogFenced,
    LogRefuses,
    NewerRecord,
    StoreAway,
    StoreRefuses,
    UnreadableRecord,
)


class PartitionLeft(Exception):
    """The partition is not owned here any more: whoever asked, asks its next owner."""


@dataclass
class OwnedPartition:
    """What is known of a partition that belongs to this process."""

    partition: int
    ending: threading.Event = field(default_factory=threading.Event)
    owner: PartitionOwner | None = None
    """None: it is not taken over yet, or not any more."""
    trouble: str = ""
    """Why it does not work, in words."""
    thread: threading.Thread | None = None


class PartitionOwners:
    """Safe to use from many threads; `begin` and `leave` are for the one who hears of the group."""

    def __init__(
        self,
        new_owner: Callable[[int], PartitionOwner],
        again_s: float = _AGAIN_S,
    ) -> None:
        """`new_owner`: makes one that has not begun; `again_s`: the first pause after a trouble."""
        self._new_owner = new_owner
        self._again_s = again_s
        self._lock = threading.Lock()
        self._owned: dict[int, OwnedPartition] = {}

    def begin(self, partitions: Collection[int]) -> None:
        """Take partitions over, each in a thread of its own."""
        for partition in partitions:
            owned = OwnedPartition(partition)
            name = f"executions-{partition}"
            owned.thread = threading.Thread(target=self._run, args=(owned,), name=name, daemon=True)
            with self._lock:
                if partition in self._owned:
                    continue
                self._owned[partition] = owned
            owned.thread.start()

    def leave(self, partitions: Collection[int], within_s: float = LEAVE_WITHIN_S) -> bool:
        """Stop partitions; return whether all of them came to their end in time.

        One that did not is as good as fenced: the next owner lets it write nothing.
        """
        with self._lock:
            leaving = [self._owned.pop(each) for each in partitions if each in self._owned]
        for owned in leaving:
            owned.ending.set()
            if (owner := owned.owner) is not None:
                owner.wake()
        until = time.monotonic() + within_s
        for owned in leaving:
            if owned.thread is not None:
                owned.thread.join(max(0.0, until - time.monotonic()))
        return not any(owned.thread is not None and owned.thread.is_alive() for owned in leaving)

    def owner(self, partition: int) -> PartitionOwner | None:
        """Return who works a partition here; None: nobody does, now."""
        with self._lock:
            owned = self._owned.get(partition)
        return None if owned is None else owned.owner

    def owned(self) -> Mapping[int, OwnedPartition]:
        """Return what belongs to this process, by partition."""
        with self._lock:
            return dict(self._owned)

    def working(self) -> Mapping[int, PartitionOwner]:
        """Return the owners that have taken their partition over."""
        owners = {number: owned.owner for number, owned in self.owned().items()}
        return {number: owner for number, owner in owners.items() if owner is not None}

    def positions(self) -> Mapping[int, int]:
        """Return the offset of the history that each partition reads next, for monitors of lag."""
        positions = {number: owner.read_to for number, owner in self.working().items()}
        return {number: each for number, each in positions.items() if each is not None}

    def _run(self, owned: OwnedPartition) -> None:
        pause_s = self._again_s
        while not owned.ending.is_set():
            began = time.monotonic()
            owner = self._new_owner(owned.partition)
            try:
                self._work(owned, owner)
            except _TROUBLES as error:
                owned.trouble = str(error) or type(error).__name__
                log.warning("a partition is given up", partition=owned.partition, why=owned.trouble)
            except Exception as error:
                owned.trouble = f"{type(error).__name__}: {error}"
                log.exception("a partition is given up", partition=owned.partition)
            finally:
                owned.owner = None
                left = PartitionLeft(f"partition {owned.partition} is not worked here")
                owner.refuse(left, for_good=True)
                owner.close()
            if time.monotonic() - began > _AGAIN_MAX_S:
                pause_s = self._again_s
            owned.ending.wait(pause_s)
            pause_s = min(pause_s * 2, _AGAIN_MAX_S)

    def _work(self, owned: OwnedPartition, owner: PartitionOwner) -> None:
        owner.take_over()
        # It may have been taken from us while we fenced: then nothing of ours may follow.
        if owned.ending.is_set():
            return
        owned.trouble = ""
        owned.owner = owner
        while not owned.ending.is_set():
            owner.turn()
            if owner.waits_for is not None:
                owned.trouble = f"it waits for a release that reads version {owner.waits_for}"
                owned.ending.wait(_WAITS_S)
