"""Syncs of a fleet's workers, through the overlord's own route; each is a whole report."""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bench.result import Spread, spread
from bench.year.chronicle import RECORDS
from bench.year.plane import Plane
from bench.year.rows import INCARNATION
from supervisor.core.model.rows import Task
from tasks.contract.messages import (
    KNOWN_TERM_HEADER,
    Counters,
    SyncRequest,
    SyncResponse,
    TaskPhase,
    TaskReport,
    Unchanged,
)
from tasks.contract.offsets import TopicPartition

LOOKS_PER_S = 1.2
"""Syncs of a worker that are answered at once: a report each second, and a long poll of 10 s whose
answer is worked out when it comes and when it ends."""


@dataclass
class FleetWorkers:
    """The workers of a fleet; each call is one sync of one of them."""

    plane: Plane
    _sequence: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _orders: dict[str, int] = field(default_factory=dict)
    """Task -> the sequence of its order, where it is not 0."""
    _known: dict[str, SyncResponse] = field(default_factory=dict)
    """Worker -> the newest answer that it has acted on."""

    def __post_init__(self) -> None:
        self.tasks: dict[str, list[Task]] = {}
        for task in self.plane.tasks:
            self.tasks.setdefault(task.worker_id, []).append(task)
        self.ids = sorted(self.tasks)

    def report(self) -> None:
        """Let each worker register and report once, as one that knows no answer yet."""
        self._known.clear()
        for worker in self.ids:
            self._answered(worker)

    def unchanged(self, rounds: int) -> Spread:
        """Return CPU milliseconds of one sync that brings nothing new, per round of all workers.

        User and system time of the process: parsing, middleware, desired state, answer.
        """
        took = []
        for _ in range(rounds):
            bodies = [(worker, self._body(worker)) for worker in self.ids]
            began = time.process_time()
            answers = asyncio.run(self._send(bodies))
            took.append((time.process_time() - began) * 1000 / len(bodies))
            for answer in answers:
                Unchanged.model_validate_json(answer)
        return spread(took)

    def news(self, times: int) -> Spread:
        """Return milliseconds of syncs just after an order to one of the worker's tasks.

        The report has a new phase as well, so its supervisor is woken.
        """
        took = []
        for number in range(times):
            worker = self.ids[number % len(self.ids)]
            mine = self.tasks[worker]
            task = mine[(number // len(self.ids)) % len(mine)]
            before = self._known[worker]
            sequence = self._order(task)
            ms, answer = self._answered(worker)
            orders = {each.task_id: each.order.sequence for each in answer.tasks}
            assert orders[task.id] == sequence, f"{task.id} was not ordered"
            assert answer.revision != before.revision, "the answer is the one before"
            took.append(ms)
        return spread(took)

    def _answered(self, worker: str) -> tuple[float, SyncResponse]:
        body = self._body(worker)
        began = time.perf_counter()
        answers = asyncio.run(self._send([(worker, body)]))
        ms = (time.perf_counter() - began) * 1000
        self._known[worker] = SyncResponse.model_validate_json(answers[0])
        return ms, self._known[worker]

    def _order(self, task: Task) -> int:
        """Let the overlord pause the task's range, or go on; return the order's sequence."""
        plane = self.plane
        before = self._orders.get(task.id, 0)
        now = plane.chronicle.now
        with plane.store.leading(plane.leadership.term()) as tx:
            live = tx.generations.get(task.generation_id)
            assert live is not None
            before = live.sequence
            if before % 2 == 0:
                assert tx.generations.begin_handoff(
                    live.id, before, must_end=False, why="the benchmark", now=now
                )
            else:
                assert tx.generations.resume(live.id, before, restart_timer=False, now=now)
        for each in plane.tasks:
            if each.generation_id == task.generation_id:
                self._orders[each.id] = before + 1
        return before + 1

    async def _send(self, bodies: Sequence[tuple[str, bytes]]) -> list[bytes]:
        return [
            await self.plane.call(
                "POST", f"/internal/v1/workers/{worker}/sync", body, self._headers(worker)
            )
            for worker, body in bodies
        ]

    def _headers(self, worker: str) -> dict[str, str]:
        known = self._known.get(worker)
        return {} if known is None else {KNOWN_TERM_HEADER.lower(): str(known.term)}

    def _body(self, worker: str) -> bytes:
        known = self._known.get(worker)
        tasks = self.tasks[worker]
        request = SyncRequest(
            worker_id=worker,
            incarnation=INCARNATION,
            sequence=next(self._sequence),
            url=f"http://{worker}.example:8091",
            slots=2 * len(tasks),
            tasks=tuple(self._reported(task) for task in tasks),
            known=None if known is None else known.revision,
        )
        return request.to_json().encode()

    def _reported(self, task: Task) -> TaskReport:
        chronicle = self.plane.chronicle
        ordinal = int(task.generation_id.rpartition(":")[2]) - 1
        group = ordinal % chronicle.shape.groups
        start = chronicle.shape.ranges * RECORDS
        topic, members = task.supervisor_id, chronicle.shape.members(group)
        order = self._orders.get(task.id, 0)
        return TaskReport(
            task_id=task.id,
            phase=TaskPhase.PAUSED if order % 2 else TaskPhase.READING,
            order_term=self.plane.leadership.term(),
            order_sequence=order,
            position={TopicPartition(topic, partition): start for partition in members},
            counters=Counters(processed=1_000, processed_bytes=230_000, batches=4),
        )
