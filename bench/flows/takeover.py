"""Executors that end, or are killed, and a partition that is restored.

Executions begin in each partition all the time.  One executor ends, and the first commit of the
other one in each of its partitions, read from the topics, ends the time that is measured.
"""

import gc
import itertools
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.result import Spread, spread
from supervisor.adapters.clock import SystemClock
from supervisor.adapters.executions.kafka.log import KafkaPartitionLog
from supervisor.adapters.expressions import CelExpressions
from supervisor.core.executions.entities import Execution
from supervisor.core.executions.plan import ApproveWork, CallWork, FlowPlan, SetWork, Step
from supervisor.executions.sequencer.batch import PartitionPlan
from supervisor.executions.sequencer.engine import PartitionedEngine
from supervisor.executions.sequencer.letters import POSITION_FORM
from supervisor.executions.sequencer.loop import INPUTS_MAX, PartitionOwner
from supervisor.executions.sequencer.owners import PartitionOwners
from supervisor.executions.sequencer.places import partition_of
from supervisor.ports.flows.execution_log import POSITION_KEY, LogTopic
from tests.environment.execution_topics import TopicsOfTest, make_execution_topics
from tests.integration.executors.processes import ExecutorProcess, Executors
from tests.waiting import wait_until

__all__ = ["TakeoverRun", "TakeoverSizes", "measure_takeovers"]

_NOOP = FlowPlan("moves", 1, (Step("a", CallWork("noop")),))
_WAITS = FlowPlan(
    "waits",
    1,
    (Step("v", SetWork({"day": "2026-01-05"})), Step("ok", ApproveWork("go on?"), after=("v",))),
)
_EVERY_S = 0.1
"""Between two executions that begin in each partition."""
_WITHIN_S = 90.0
_PARTITIONS = 8


@dataclass(frozen=True)
class TakeoverSizes:
    """How much is done."""

    rounds: int = 8
    """Of each way to end."""
    live: int = 10_000
    """Executions that are restored."""
    restores: int = 5


@dataclass(frozen=True)
class TakeoverRun:
    """Seconds; of the first two a value for each partition that had to move."""

    killed: Spread
    ended: Spread
    restored: Spread


def measure_takeovers(folder: Path, bootstrap: str, sizes: TakeoverSizes) -> TakeoverRun:
    """Let one of two executors end again and again; then restore many live executions."""
    folder.mkdir(parents=True)
    with Executors(folder, bootstrap) as executors:
        moves = _Moves(executors, [executors.start(), executors.start()])
        killed = [each for _ in range(sizes.rounds) for each in moves.move(signal.SIGKILL)]
        ended = [each for _ in range(sizes.rounds) for each in moves.move(signal.SIGTERM)]
    restored = _restores(bootstrap, sizes)
    return TakeoverRun(spread(killed), spread(ended), spread(restored))


@dataclass
class _Moves:
    """Two executors; the older one ends, and another one comes."""

    executors: Executors
    running: list[ExecutorProcess]

    def __post_init__(self) -> None:
        """Find names for each partition."""
        self._names = {part: _names_in(part) for part in range(_PARTITIONS)}

    def move(self, how: signal.Signals) -> list[float]:
        """Return the seconds from the signal to the first commit of the next owner of each."""
        old, other = self.running
        self.executors.share(old, other)
        moving = old.owns()
        self._flow(moving, old.name)
        began = time.monotonic()
        old.child.signal(how)
        took = self._flow(moving, other.name, began)
        old.child.stop()
        self.running = [other, self.executors.start()]
        return list(took.values())

    def _flow(self, partitions: set[int], writer: str, began: float = 0.0) -> dict[int, float]:
        """Begin executions until this executor has worked one in each of these; return when."""
        done: dict[int, float] = {}
        begin_at = time.monotonic()
        until, before = begin_at + _WITHIN_S, self._positions(writer)
        while missing := partitions - done.keys():
            now = time.monotonic()
            assert now < until, f"{writer} works nothing in {sorted(missing)}"
            if now >= begin_at:
                begin_at = now + _EVERY_S
                self.executors.begin(_NOOP, [next(self._names[part]) for part in sorted(missing)])
            new = self._positions(writer)
            for part in missing:
                if new.get(part, 0) > before.get(part, 0):
                    done[part] = time.monotonic() - began
        return done

    def _positions(self, writer: str) -> dict[int, int]:
        """Return the offset of the newest position that this executor has written in each."""
        # A killed executor leaves a transaction open, which nobody waits for.
        return {
            one.partition: one.offset
            for one in self.executors.log.read(LogTopic.STATE, open_ones=True)
            if one.key == POSITION_KEY and POSITION_FORM.read(one.value or b"").writer == writer
        }


def _names_in(partition: int) -> Iterator[str]:
    for number in itertools.count():
        name = f"moves:{number}"
        if partition_of(name, _PARTITIONS) == partition:
            yield name


def _restores(bootstrap: str, sizes: TakeoverSizes) -> list[float]:
    """Return the seconds from the beginning of all partitions until all of them are worked."""
    topics = make_execution_topics(bootstrap, _PARTITIONS)
    plan, language = PartitionPlan(_PARTITIONS, 1), CelExpressions()

    def new_owner(partition: int) -> PartitionOwner:
        log = KafkaPartitionLog(topics.client, topics.topics, partition)
        return PartitionOwner(partition, plan, log, language, lambda _: None, now=SystemClock().now)

    try:
        _fill(topics, new_owner, sizes.live)
        return [_restore(new_owner, sizes.live) for _ in range(sizes.restores)]
    finally:
        topics.close()


def _fill(topics: TopicsOfTest, new_owner: Callable[[int], PartitionOwner], live: int) -> None:
    owners = PartitionOwners(new_owner)
    owners.begin(range(_PARTITIONS))
    wait_until(lambda: len(owners.working()) == _PARTITIONS, within_s=_WITHIN_S)
    plan = PartitionPlan(_PARTITIONS, topics.topics.calls)
    engine = PartitionedEngine(owners, plan, lambda *_: None, within_s=_WITHIN_S)
    now = SystemClock().now()
    for first in range(0, live, INPUTS_MAX):
        numbers = range(first, min(first + INPUTS_MAX, live))
        engine.work(starts=[Execution(f"waits:{each}", _WAITS, {}, now) for each in numbers])
    owners.leave(range(_PARTITIONS), _WITHIN_S)


def _restore(new_owner: Callable[[int], PartitionOwner], live: int) -> float:
    gc.collect()
    owners = PartitionOwners(new_owner)
    began = time.perf_counter()
    owners.begin(range(_PARTITIONS))
    wait_until(lambda: len(owners.working()) == _PARTITIONS, within_s=_WITHIN_S)
    took = time.perf_counter() - began
    working = owners.working().values()
    assert sum(len(owner.held.restored.executions) for owner in working) == live
    owners.leave(range(_PARTITIONS), _WITHIN_S)
    return took
