"""Who knows the spec that is wanted, and asks overlords until one has taken it."""

import json
from collections.abc import Callable

from supervisor.core.values.errors import LeaseLost, Unavailable
from tasks.contract.offsets import TopicPartition
from tests.simulation.faults.faults import BREAKS
from tests.simulation.processes.overlord import OverlordProcess
from tests.simulation.world.network import Unreachable
from tests.simulation.world.secret import LOGIN
from tests.simulation.world.stored import SUPERVISOR
from tests.simulation.world.world import TOPIC, World

_TRIES = 6
_VERB_S = 10.0
_NEWEST = """
    SELECT json_extract(w.spec, '$.ioConfig.taskCount'),
        json_extract(w.spec, '$.ioConfig.replicas'),
        json_extract(w.spec, '$.tuningConfig.maxRowsPerSegment'),
        coalesce(s.suspended, json_extract(w.spec, '$.suspended')),
        json_extract(w.spec, '$.ioConfig.boundedStreamConfig.endSequenceNumbers')
    FROM supervisor_specs s JOIN supervisor_specs w
        ON w.supervisor_id = s.supervisor_id AND w.version = coalesce(s.same_as, s.version)
    WHERE s.supervisor_id = ? ORDER BY s.version DESC LIMIT 1
"""


class User:
    """Knows the spec it wants, and asks until an overlord has taken it."""

    def __init__(self, world: World) -> None:
        self.world = world
        swarm = world.swarm
        self.task_count = swarm.task_count
        self.replicas = swarm.replicas
        self.duration_s = swarm.task_duration_s
        self.rows_max = swarm.rare.chunk_rows or 5_000_000
        self.random = world.kernel.random("ends")
        self.ends = dict.fromkeys(range(swarm.partitions), 0) if self._is_bounded else {}
        """Partition -> where its fixed range ends now."""
        self._leader = 0
        """Number of the overlord that it asks first: whoever answered last."""
        self.satisfied = False
        """The spec that was insisted upon is stored."""

    def document(self) -> dict[str, object]:
        """Return the spec that is wanted now."""
        swarm = self.world.swarm
        return {
            "type": "kafka",
            "spec": {
                "dataSchema": {
                    "dataSource": SUPERVISOR,
                    "timestampSpec": {"column": "time", "format": "auto"},
                    "dimensionsSpec": {"dimensions": ["user"]},
                    "granularitySpec": {"segmentGranularity": "HOUR", "rollup": False},
                    "exports": list(self.world.tables.exports),
                },
                "ioConfig": {
                    **self._source(),
                    "boundedStreamConfig": self._bounds,
                    "inputFormat": {"type": "json"},
                    "consumerProperties": {"bootstrap.servers": "localhost:9092", **LOGIN},
                    "taskCount": self.task_count,
                    "replicas": self.replicas,
                    "taskDuration": f"PT{self.duration_s}S",
                    "stopTaskCount": swarm.stop_task_count,
                    "useEarliestOffset": None if self.ends else swarm.start_earliest,
                    "completionTimeout": f"PT{swarm.rare.completion_s}S",
                    "idleConfig": self._idle,
                },
                "tuningConfig": {
                    "type": "kafka",
                    "maxRowsPerSegment": self.rows_max,
                    "batchTarget": "PT1S",
                    "linger": "PT1S",
                    "batchRowsMin": 5,
                    "resetOffsetAutomatically": self._resets_itself,
                    "maxSavedParseExceptions": swarm.rare.samples_max,
                    "maxTotalRows": swarm.rare.rows_total,
                    "intermediateHandoffPeriod": self._between,
                },
            },
        }

    @property
    def _idle(self) -> dict[str, object] | None:
        after_ms = self.world.swarm.rare.idle_ms
        return None if after_ms is None else {"enabled": True, "inactiveAfterMillis": after_ms}

    @property
    def _is_bounded(self) -> bool:
        swarm = self.world.swarm
        return swarm.rare.bounded and not set(swarm.moments) & {*BREAKS, "retention"}

    @property
    def _bounds(self) -> dict[str, object] | None:
        if not self.ends:
            return None
        return {
            "startSequenceNumbers": {str(n): 0 for n in self.ends},
            "endSequenceNumbers": {str(n): end for n, end in self.ends.items()},
        }

    def raise_ends(self) -> None:
        """Name what the topic has by now, and sometimes more; again and again."""
        if not self.ends:
            return
        self.world.kernel.after(self.random.uniform(4.0, 18.0), self.raise_ends)
        before = dict(self.ends)
        for number in range(self.world.kafka.partitions(TOPIC)):
            ahead = 0 if self.world.dry else self.random.choice([0, 0, 5, 20])
            stable = self.world.kafka.log(TopicPartition(TOPIC, number)).stable
            self.ends[number] = max(self.ends.get(number, 0), stable + ahead)
        if self.ends != before:
            self.insist() if self.world.quiet else self.apply()

    @property
    def _between(self) -> str | None:
        between_s = self.world.swarm.rare.between_s
        return None if between_s is None else f"PT{between_s}S"

    def _source(self) -> dict[str, str]:
        if len(self.world.topics) == 1:
            return {"topic": TOPIC}
        return {"topicPattern": f"{TOPIC}(-[a-z]+)?"}

    @property
    def _resets_itself(self) -> bool:
        swarm = self.world.swarm
        return swarm.resets_itself or "retention while suspended" in swarm.rare.stories

    def ask(
        self,
        name: str,
        act: Callable[[OverlordProcess], object],
        tries: int = 0,
        *,
        satisfies: bool = False,
    ) -> None:
        """Ask one overlord after the other until one that leads has answered.

        With `tries` also once the faults have ended.
        """
        overlords, insists = self.world.overlords, tries > 0
        begun, tries_all = self._leader, tries or _TRIES

        def may(go: Callable[[], None]) -> None:
            if insists or not self.world.quiet:
                go()

        def one(left: int) -> None:
            target: OverlordProcess = overlords[(begun + tries_all - left) % len(overlords)]

            def heard(answer: object) -> None:
                self.world.kernel.trace("user", name, type(answer).__name__)
                self.satisfied |= satisfies and not isinstance(answer, Exception)
                again = isinstance(answer, LeaseLost | Unreachable | Unavailable)
                if not again:
                    self._leader = overlords.index(target)
                if again and left > 0 and (insists or not self.world.quiet):
                    self.world.kernel.after(1.0, lambda: one(left - 1))

            self.world.network.call(
                self.world.user,
                target,
                lambda reply: may(lambda: target.verb(name, act, reply)),
                heard,
                _VERB_S,
            )

        one(tries_all)

    def apply(self) -> None:
        """Post the spec that is wanted now."""
        document = self.document()
        self.ask("apply", lambda o: o.service.apply_spec(document, "user"))

    def cure(self) -> None:
        """Post a spec with which no batch fails."""
        curse = self.world.kafka.curse
        if curse is not None and self.rows_max < curse.cured_by:
            self.rows_max = curse.cured_by
            self.apply()

    def mend(self) -> None:
        """Reset, again and again, as long as Kafka does not hold what is to be read next.

        Post the spec again if an older word of the user's has arrived after it.
        """
        wanted = (self.task_count, self.replicas, self.rows_max, 0)
        newest = self.world.store_connection.execute(_NEWEST, (SUPERVISOR,)).fetchone()
        if newest is not None and (*newest[:4], self._named(newest[4])) != (*wanted, self.ends):
            self.insist()
        if self.world.is_broken():
            self.ask("reset", lambda o: o.resets.reset(SUPERVISOR, "user"), 3)
        self.world.kernel.after(5.0, self.mend)

    @staticmethod
    def _named(ends: str | None) -> dict[int, int]:
        return {} if ends is None else {int(n): end for n, end in json.loads(ends).items()}

    def insist(self) -> None:
        """Post the spec that is wanted now, until an overlord has taken it.

        The workers have room for one replica of each range; not always for all that are wanted,
        unless another supervisor needs room as well.
        """
        slots = self.world.swarm.workers * self.world.slots
        if self.world.beside.neighbour is not None:
            slots -= 1
            self.replicas = min(self.replicas, max(1, slots // min(self.task_count, slots)))
        self.task_count = min(self.task_count, slots)
        document = self.document()
        self.ask("apply", lambda o: o.service.apply_spec(document, "user"), 60, satisfies=True)

    def hurry(self) -> None:
        """Ask for handoffs from now on: a run needs some, the timer had its turn."""
        self.ask("handoff", lambda o: o.handoffs.ask(SUPERVISOR, None, "user"), 1)
        self.world.kernel.after(3.0, self.hurry)
