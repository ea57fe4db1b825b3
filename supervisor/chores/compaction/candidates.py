"""The small files of a chunk as compaction sees them, read in short transactions of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from supervisor.chores.file_lists import SPANS_OF_AT_ONCE, compactions_of, pages, whole
from supervisor.control.declared_types import declared_of
from supervisor.core.model.listed_segments import ListedSegment
from supervisor.core.tables.compaction import (
    Candidate,
    Compaction,
    columns_of,
    joined,
    shares_of,
)
from supervisor.core.values.errors import SpecUnreadable
from supervisor.core.values.ids import compaction_id
from supervisor.core.values.intervals import Interval
from supervisor.core.values.table_names import is_errors_table
from supervisor.ports.store import Store, Transaction


@dataclass(frozen=True)
class Candidates:
    """Returns the candidates of listed files; remembers the facts that never change."""

    store: Store
    _spec_versions: dict[str, int] = field(default_factory=dict)
    """Generation -> the spec version that it was opened with; 0: there is no such generation."""
    _rolled: dict[tuple[str, int], bool] = field(default_factory=dict)
    """(supervisor, spec version) -> whether the spec rolls up."""

    def __call__(self, segments: Sequence[ListedSegment]) -> list[Candidate]:
        """Return the files with their shares, and whether their rows are rolled up.

        Call it without an open transaction; raises as `file_lists.listed`.
        """
        files = whole(self.store, segments)
        written = (each.compaction_id for each in files if each.compaction_id is not None)
        compactions = compactions_of(self.store, written)
        plain = [Candidate(file, shares_of(file, compactions)) for file in files]
        candidates: list[Candidate] = []
        for some in pages(plain, SPANS_OF_AT_ONCE):
            with self.store.reading() as tx:
                candidates += (replace(each, kind=self._is_rolled_up(tx, each)) for each in some)
        return candidates

    def _is_rolled_up(self, tx: Transaction, candidate: Candidate) -> bool:
        segment, generation_id = candidate.segment, candidate.shares[0].generation_id
        if is_errors_table(segment.data_source):
            return False
        if generation_id not in self._spec_versions:
            generation = tx.generations.get(generation_id)
            version = 0 if generation is None else generation.spec_version
            self._spec_versions[generation_id] = version
        key = (segment.supervisor_id, self._spec_versions[generation_id])
        if key not in self._rolled:
            self._rolled[key] = _rolls_up(tx, *key)
        return self._rolled[key]


def within(segments: Iterable[ListedSegment], interval: Interval | None) -> list[ListedSegment]:
    """Return the segments whose chunks lie wholly inside an interval; None: all."""
    files = ((segment, segment.file) for segment in segments)
    return [
        s for s, f in files if not interval or interval.contains(f.interval_start, f.interval_end)
    ]


def inputs_of(group: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the ids of the segments of a group."""
    return tuple(each.segment.id for each in group)


def row_of(store: Store, batch: Sequence[Candidate], author: str, now: datetime) -> Compaction:
    """Return the compaction of a batch, which nobody has begun yet."""
    first, segments = batch[0].segment, [each.segment for each in batch]
    inputs = tuple(segment.id for segment in segments)
    return Compaction(
        id=compaction_id(first.data_source, inputs, 0),
        data_source=first.data_source,
        supervisor_id=first.supervisor_id,
        interval=Interval(first.file.interval_start, first.file.interval_end),
        inputs=inputs,
        columns=columns_of(segments, declared_of(store, segments)),
        shares=joined(share for each in batch for share in each.shares),
        reason=author,
        created_at=now,
    )


def is_as_chosen(tx: Transaction, data_source: str, row: Compaction) -> bool:
    """Return whether all inputs are used, and none of their ranges was folded since."""
    ranges = {share.generation_id for share in row.shares}
    return tx.segments.all_used(data_source, row.inputs) and tx.segments.published(ranges)


def _rolls_up(tx: Transaction, supervisor_id: str, spec_version: int) -> bool:
    """Return whether a spec rolls up; False for a spec that this release cannot read.

    A rolled-up file that counts as plain is only joined with plain ones: no row changes.
    """
    try:
        version = tx.specs.version(supervisor_id, spec_version)
    except SpecUnreadable:
        return False
    spec = None if version is None else version.spec
    return spec is not None and spec.data_schema.granularity_spec.rollup


def inserted(tx: Transaction, row: Compaction) -> Compaction:
    """Insert a compaction under the first id that no earlier attempt at the same files has."""
    attempt = 0
    while not tx.compactions.add(row):
        attempt += 1
        row = replace(row, id=compaction_id(row.data_source, row.inputs, attempt))
    return row
