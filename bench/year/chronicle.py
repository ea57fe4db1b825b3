"""What a fleet has done since it began: pure facts, from which the rows follow.

    hour    0          1          2                 now
    range   ├── 0 ─────┼── 1 ─────┼── ... ── last ──┤── live
    chunk   └ its file + late rows of range 1 ─► compacted together, COMPACTED_AFTER

Every id is the product's own function of the same facts.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from bench.year.shape import COMPACTED_AFTER, PERIOD, SPEC_STORED_EVERY, FleetShape
from supervisor.core.spec.reader import read_spec
from supervisor.core.spec.spec import SupervisorSpec, schema_digest
from supervisor.core.values.ids import base_sequence_name, compaction_id, generation_id, task_id
from supervisor.dev.sample import sample_spec
from tasks.contract.offsets import TopicPartition

TOPIC_ID = "mJx0Tn2XQ8SkT9y0o0bK7A"
RECORDS = 90_000
"""Records of each partition in one range."""
LATE = RECORDS // 10
"""Of these, the records of the time chunk before; they come first."""
RANGES_AT_ONCE = 4_096
"""Ranges that are kept in memory: a compaction looks back by a day."""


@dataclass(frozen=True, slots=True)
class PastRange:
    """A published range; its first replica published it."""

    supervisor: int
    group: int
    number: int
    """Of the group's ranges, from 0."""
    id: str
    ordinal: int
    opened_at: datetime
    start: Mapping[TopicPartition, int]
    end: Mapping[TopicPartition, int]
    task_ids: tuple[str, ...]
    """By replica."""

    @property
    def paused_at(self) -> datetime:
        """When its handoff began."""
        return self.opened_at + PERIOD

    @property
    def end_fixed_at(self) -> datetime:
        """When its successor opened."""
        return self.paused_at + timedelta(milliseconds=400)

    @property
    def ended_at(self) -> datetime:
        """When it was published."""
        return self.paused_at + timedelta(seconds=4)

    @property
    def settled_at(self) -> datetime:
        """When the folders of its tasks were found empty for the second time."""
        return self.ended_at + timedelta(minutes=3)

    @property
    def segment_ids(self) -> tuple[str, str]:
        """The ids of its files, if there are two: late rows, and its own chunk."""
        return f"{self.task_ids[0]}/0", f"{self.task_ids[0]}/1"


@dataclass(frozen=True, slots=True)
class PastCompaction:
    """The files of one time chunk of a supervisor, of all groups, as one."""

    id: str
    supervisor: int
    chunk: int
    at: datetime
    inputs: tuple[tuple[PastRange, int], ...]
    """(range, number of its file)."""


class Chronicle:
    """The history of a fleet up to `now`, which is when the live ranges began."""

    def __init__(self, shape: FleetShape, now: datetime) -> None:
        self.shape = shape
        self.now = now
        self.names = shape.names
        self.began_at = now - shape.ranges * PERIOD
        self.specs = [self._spec(name) for name in self.names]
        self._digests = [schema_digest(spec) for spec in self.specs]
        self.range = lru_cache(RANGES_AT_ONCE)(self._range)
        self.compaction = lru_cache(RANGES_AT_ONCE)(self._compaction)

    def ordinal(self, group: int, number: int) -> int:
        """Return the ordinal of a range; ranges open in the order of their groups."""
        return number * self.shape.groups + group + 1

    def offsets(self, supervisor: int, group: int, number: int) -> dict[TopicPartition, int]:
        """Return where the range with this number starts."""
        topic = self.names[supervisor]
        members = self.shape.members(group)
        return {TopicPartition(topic, partition): number * RECORDS for partition in members}

    def spec_version(self, number: int) -> int:
        """Return the version of the spec with which a range runs."""
        return 1 + number // SPEC_STORED_EVERY

    @property
    def newest_version(self) -> int:
        """The version of the spec of the live ranges."""
        return self.spec_version(max(0, self.shape.ranges - 1))

    def worker(self, supervisor: int, group: int, replica: int) -> str:
        """Return the worker of a task; replicas are on different ones."""
        shape = self.shape
        number = (supervisor * shape.groups + group) * shape.replicas + replica
        return f"worker-{number % shape.workers:02d}"

    def task_id(self, supervisor: int, group: int, number: int, replica: int) -> str:
        """Return the id of the first attempt of a replica, as the planner forms it."""
        start = self.offsets(supervisor, group, number)
        name, generation = self.names[supervisor], self._id(supervisor, group, number)
        return task_id(
            base_sequence_name(name, self._digests[supervisor], start), generation, replica, 1
        )

    def _id(self, supervisor: int, group: int, number: int) -> str:
        return generation_id(self.names[supervisor], self.ordinal(group, number))

    def _range(self, supervisor: int, group: int, number: int) -> PastRange:
        start = self.offsets(supervisor, group, number)
        generation = self._id(supervisor, group, number)
        base = base_sequence_name(self.names[supervisor], self._digests[supervisor], start)
        replicas = range(self.shape.replicas)
        return PastRange(
            supervisor=supervisor,
            group=group,
            number=number,
            id=generation,
            ordinal=self.ordinal(group, number),
            opened_at=self.began_at + number * PERIOD,
            start=start,
            end={partition: at + RECORDS for partition, at in start.items()},
            task_ids=tuple(task_id(base, generation, replica, 1) for replica in replicas),
        )

    def _compaction(self, supervisor: int, chunk: int) -> PastCompaction | None:
        """Return the compaction of a time chunk; None: there was none up to now."""
        at = self.began_at + (chunk + COMPACTED_AFTER) * PERIOD
        if not self.shape.is_compacted(supervisor) or chunk < 0 or at > self.now:
            return None
        inputs = tuple(
            (self.range(supervisor, group, chunk + later), 1 - later)
            for group in range(self.shape.groups)
            for later in (0, 1)
        )
        ids = [each.segment_ids[file] for each, file in inputs]
        name = compaction_id(self.names[supervisor], ids, 0)
        return PastCompaction(name, supervisor, chunk, at, inputs)

    def _spec(self, name: str) -> SupervisorSpec:
        document = sample_spec(
            "kafka-1.example:9092,kafka-2.example:9092",
            name,
            task_count=self.shape.groups,
            replicas=self.shape.replicas,
            task_duration="PT1H",
        )
        spec = read_spec(document).spec
        assert isinstance(spec, SupervisorSpec)
        return spec


def token_of(task: str) -> str:
    """Return a token of the length of the product's, 43 characters."""
    digest = hashlib.sha256(task.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
