"""`backfill`: a bounded supervisor reads ranges that the table does not have, and ends.

    offsets, times or a day ─► ranges, each held against what the table has ─► bounded supervisor
                                └ read before, or still to be read: refused       └ COMPLETED: done

Its id follows from the key of the effect, so a repeat finds it.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from string import ascii_lowercase

from pydantic import JsonValue

from supervisor.core.model.rows import CommittedOffset
from supervisor.core.planning.backfill import (
    ID_LETTERS,
    OffsetRange,
    backfill_id,
    backfill_spec,
    task_count_of,
)
from supervisor.core.planning.preconditions import ANY, Expected
from supervisor.core.planning.wished_offsets import TimedOffsets
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import NoBackfill
from supervisor.ports.store import Store, Transaction
from supervisor.services.access.applying import applying
from supervisor.services.steps.arguments import Arguments, whole_of, wrong_argument
from supervisor.services.steps.supervisor_verbs import partition_of
from supervisor.services.steps.verb import Begun, VerbRequest
from supervisor.services.supervisors.specs import Service
from tasks.contract.offsets import TopicPartition

__all__ = ["BackfillVerb"]

Ranges = dict[TopicPartition, OffsetRange]
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class BackfillVerb:
    """Stores the bounded supervisor; the step ends once all of its ranges are published."""

    store: Store
    service: Service
    look_at: Callable[[SupervisorSpec, datetime | None], TimedOffsets]
    """Asks Kafka, for some seconds at most."""

    def begin(self, wanted: VerbRequest) -> Begun:
        """Store it; ranges without a record need none."""
        spec, ranges = self._ranges(wanted)
        outputs = _sizes(ranges)
        if not ranges:
            return Begun({**outputs, "changed": False})
        own_id = _own_id(wanted)
        count = task_count_of(spec, ranges, wanted.arguments.whole("taskCount") or None)
        bounded = backfill_spec(spec, own_id, ranges, count)
        new = Expected(none_match=frozenset({ANY}))
        done = self.service.apply_spec(
            bounded.normalised(), wanted.author, new, allowed=applying(wanted.owner)
        )
        outputs |= {"changed": True, "supervisor": own_id, "operation": done.operation}
        return Begun(outputs, {"completed": own_id})

    def recall(self, wanted: VerbRequest) -> Begun:
        """Wait for the supervisor that the first call stored: it acts only to store one."""
        own_id = _own_id(wanted)
        ranges = _bounds(self.service.spec(own_id))
        outputs = {**_sizes(ranges), "changed": True, "supervisor": own_id}
        return Begun(outputs, {"completed": own_id})

    def foresee(self, wanted: VerbRequest) -> Mapping[str, JsonValue]:
        """Return what it would read."""
        _, ranges = self._ranges(wanted)
        shown: dict[str, JsonValue] = {
            str(p): {"from": each.first, "to": each.end} for p, each in sorted(ranges.items())
        }
        return {**_sizes(ranges), "ranges": shown}

    def _ranges(self, wanted: VerbRequest) -> tuple[SupervisorSpec, Ranges]:
        name, given = wanted.arguments.text("supervisor"), wanted.arguments
        spec = self.service.spec(name)
        if spec.io_config.topic is None:
            raise NoBackfill(name, "reads topicPattern, and fixed ranges are of one topic")
        if spec.io_config.bounded_stream_config is not None:
            raise NoBackfill(name, "reads fixed ranges itself: name the supervisor that goes on")
        ranges = _by_offsets(spec, given) if "ranges" in given.given else self._by_time(spec, given)
        ranges = {p: each for p, each in ranges.items() if each.end > each.first}
        with self.store.reading() as tx:
            _check(tx, spec, ranges)
        return spec, ranges

    def _by_time(self, spec: SupervisorSpec, given: Arguments) -> Ranges:
        if "day" in given.given:
            start = datetime.combine(given.day("day"), time(), UTC)
            end = start + _DAY
        else:
            start, end = given.moment("from"), given.moment("to")
        if end <= start:
            raise wrong_argument("to", given.text("to"), "after `from`")
        first, last = (_offsets_at(self.look_at(spec, at)) for at in (start, end))
        return {p: OffsetRange(at, last[p]) for p, at in first.items() if p in last}


def _own_id(wanted: VerbRequest) -> str:
    digest = hashlib.sha256(wanted.call.key.encode()).digest()
    letters = "".join(ascii_lowercase[each % len(ascii_lowercase)] for each in digest[:ID_LETTERS])
    return backfill_id(wanted.arguments.text("supervisor"), letters)


def _offsets_at(seen: TimedOffsets) -> dict[TopicPartition, int]:
    """Return the first offset of a time; behind all records it is the stable end."""
    return {
        p: seen.records[p].offset if p in seen.records else end
        for p, end in seen.log.stable.items()
    }


def _by_offsets(spec: SupervisorSpec, given: Arguments) -> Ranges:
    ranges: Ranges = {}
    for key, bounds in (given.mapping("ranges") or {}).items():
        if not isinstance(bounds, dict) or set(bounds) != {"from", "to"}:
            raise wrong_argument("ranges", bounds, "{from: offset, to: offset}")
        first, end = (whole_of("ranges", bounds[name]) for name in ("from", "to"))
        ranges[partition_of(key, spec.io_config.topic)] = OffsetRange(first, end)
    return ranges


def _bounds(spec: SupervisorSpec) -> Ranges:
    starts, ends = spec.io_config.starts or {}, spec.io_config.ends or {}
    return {p: OffsetRange(at, ends[p]) for p, at in starts.items()}


def _sizes(ranges: Ranges) -> dict[str, JsonValue]:
    offsets = sum(each.end - each.first for each in ranges.values())
    return {"partitions": len(ranges), "offsets": offsets}


def _check(tx: Transaction, spec: SupervisorSpec, ranges: Ranges) -> None:
    """Refuse ranges of which a record would be in the table twice.

    Raises:
        NoBackfill: it names the first one.
    """
    committed = tx.offsets.of(spec.id)
    for partition, each in sorted(ranges.items()):
        _check_end(spec.id, partition, each, committed.get(partition))
    for owner, partition, read in _read_by_others(tx, spec):
        each = ranges.get(partition, OffsetRange(0, 0))
        if max(each.first, read.first) < min(each.end, read.end):
            raise NoBackfill(
                spec.id,
                f"{partition}: {owner} has read {read.first} to {read.end}, or is about to, and "
                f"{each.first} to {each.end} overlaps that: its records would be there twice",
            )


def _check_end(
    supervisor_id: str,
    partition: TopicPartition,
    each: OffsetRange,
    committed: CommittedOffset | None,
) -> None:
    if committed is None or each.end > committed.next_offset:
        at = "from its first offset on" if committed is None else f"from {committed.next_offset} on"
        reason = f"{partition}: it reads {at} by itself, and this range ends at {each.end}"
        raise NoBackfill(supervisor_id, reason)


def _read_by_others(
    tx: Transaction, spec: SupervisorSpec
) -> Iterator[tuple[str, TopicPartition, OffsetRange]]:
    """Yield what is in the table, and what bounded supervisors are to bring into it."""
    feeds = {key.supervisor_id for key in tx.segments.keys(spec.data_source, used=True)}
    for owner in sorted(feeds | {spec.id}):
        for read in tx.segments.published_ranges(owner):
            for partition, first in read.start.items():
                yield owner, partition, OffsetRange(first, read.end[partition])
    for version in tx.specs.all_newest():
        other = version.spec
        if other is not None and other.data_source == spec.data_source:
            for partition, bounds in _bounds(other).items():
                yield other.id, partition, bounds
