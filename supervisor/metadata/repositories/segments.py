"""The repository of segments and publications: published files, their proof, their deletion."""

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from sqlalchemy import ColumnElement, Connection, func, select, text, update

from supervisor.core.attention.divergence import DivergedRange
from supervisor.core.history.coverage.publications import CoveredRange
from supervisor.core.model.listed_segments import ListedSegment, SegmentKey
from supervisor.core.model.replica_digests import Divergence, stored
from supervisor.core.model.rows import NamedFile, Publication, Segment, with_spans
from supervisor.core.tables.totals import SmallSizes, TableTotals, TimeBucket, TimeWindow
from supervisor.core.values.errors import StateMoved
from supervisor.metadata.schema.column_sets import StoredColumnSets
from supervisor.metadata.schema.expiry import folded_rejects
from supervisor.metadata.schema.rows import chunks, distinct_values, insert_unless_taken
from supervisor.metadata.schema.segment_rows import (
    COVERED_RANGES,
    LAST_PUBLISHED,
    LATELY_DIVERGED,
    SEGMENT_KEYS,
    publication_row,
    read_diverged,
    read_key,
    read_listed,
    read_publication,
    read_span,
    segment_row,
    span_rows,
)
from supervisor.metadata.schema.table_totals import timeline, totals
from supervisor.metadata.schema.tables import publications, segment_spans, segments
from supervisor.ports.touched import Touched
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, RejectsFile

_AT = segments.c
_SPAN = segment_spans.c
_PUB = publications.c
_USED = _AT.unused_at.is_(None)
_KEPT = _AT.deleted_at.is_(None)
_IN_ORDER = (_AT.interval_start, _AT.interval_end, _AT.path)


class SqlSegments:
    """See `ports.tables.segments.Segments`."""

    def __init__(self, connection: Connection, touched: Touched) -> None:
        self._db = connection
        self._touched = touched
        self._sets = StoredColumnSets(connection)

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation, or one of its files, is published already.
        """
        self._sets.put({segment.columns for segment in segments})
        if not insert_unless_taken(
            self._db,
            (publications, [publication_row(publication)]),
            (_AT.id.table, [segment_row(segment) for segment in segments]),
            (segment_spans, [row for segment in segments for row in span_rows(segment)]),
        ):
            raise StateMoved(f"{publication.generation_id}, or one of its files, is published")

    def keys(
        self,
        data_source: str,
        *,
        used: bool | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        ids: Sequence[str] | None = None,
        deleted: bool = False,
    ) -> list[SegmentKey]:
        """Return which segments a table has, by one statement or by ids; see the port."""
        conditions = _chosen(data_source, start, end, deleted=deleted)
        if used is not None:
            conditions.append(_USED if used else _AT.unused_at.is_not(None))
        if ids is None:
            return self._keys(*conditions)
        return [k for some in chunks(ids) for k in self._keys(_AT.id.in_(some), *conditions)]

    def keys_of_supervisor(self, supervisor_id: str) -> list[SegmentKey]:
        """Return which segments a supervisor has, unused and deleted ones too; see the port."""
        return self._keys(_AT.supervisor_id == supervisor_id)

    def listed(self, ids: Collection[str]) -> dict[str, ListedSegment]:
        """Return id -> segment without its spans, for the ids that exist."""
        by_id: dict[str, ListedSegment] = {}
        for some in chunks(ids):
            rows = self._db.execute(select(segments).where(_AT.id.in_(some))).mappings().all()
            columns = self._sets.read({row["column_set"] for row in rows} - {None})
            for row in rows:
                by_id[row["id"]] = read_listed(row, columns.get(row["column_set"], ()))
        return by_id

    def spans(self, ids: Collection[str]) -> dict[str, tuple[OffsetSpan, ...]]:
        """Return id -> offset spans in their order, for the segments that have some."""
        by_id: dict[str, list[OffsetSpan]] = {}
        for some in chunks(ids):
            of_them = select(segment_spans).where(_SPAN.segment_id.in_(some))
            ordered = of_them.order_by(_SPAN.segment_id, _SPAN.position)
            for row in self._db.execute(ordered).mappings():
                by_id.setdefault(row["segment_id"], []).append(read_span(row))
        return {segment_id: tuple(spans) for segment_id, spans in by_id.items()}

    def all_used(self, data_source: str, ids: Collection[str]) -> bool:
        """Return whether all of these are used segments of the table."""
        wanted = (_AT.data_source == data_source, _USED)
        counts = (select(func.count()).where(_AT.id.in_(s), *wanted) for s in chunks(ids))
        return sum(self._db.execute(count).scalar_one() for count in counts) == len(set(ids))

    def of_data_source(self, data_source: str) -> list[Segment]:
        """Return the used files of a table, which are all files that readers see; see the port."""
        return self._where(_AT.data_source == data_source, _USED)

    def column_sets(self, data_source: str) -> list[tuple[Column, ...]]:
        """Return the lists of columns of a table's used files; see the port."""
        used = select(_AT.column_set).where(_AT.data_source == data_source, _USED).distinct()
        found = set(self._db.execute(used).scalars()) - {None}
        return [columns for _, columns in sorted(self._sets.read(found).items())]

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return all segments of one supervisor, unused and deleted ones too, in the same order."""
        return self._where(_AT.supervisor_id == supervisor_id)

    def data_sources(self) -> list[str]:
        """Return every table that has a publication or a segment, by name."""
        columns = _PUB.data_source, _AT.data_source
        return sorted({name for each in columns for name in distinct_values(self._db, each)})

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return the publications of a supervisor, oldest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at, _PUB.generation_id)
        ).mappings()
        return [read_publication(row) for row in rows]

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest publications, newest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at.desc(), _PUB.generation_id.desc())
            .limit(limit)
        ).mappings()
        return [read_publication(row) for row in rows]

    def published_ranges(
        self, supervisor_id: str, since: datetime | None = None
    ) -> list[CoveredRange]:
        """Return what its publications cover; see the port."""
        wanted = COVERED_RANGES.where(
            _PUB.supervisor_id == supervisor_id, _PUB.forgotten_at.is_(None)
        )
        if since is not None:
            wanted = wanted.where(_PUB.published_at >= since)
        return [CoveredRange(*row) for row in self._db.execute(wanted)]

    def add_diverged(self, generation_id: str, divergence: Divergence) -> None:
        """Record a replica whose records differ from those of a publication."""
        of_it = _PUB.generation_id == generation_id
        locked = select(_PUB.diverged).where(of_it).with_for_update()  # others may write as well
        before = self._db.execute(locked).scalar_one() or []
        changed = update(publications).where(of_it).values(diverged=[*before, stored(divergence)])
        self._db.execute(changed)

    def diverged(self, supervisor_id: str, since: datetime) -> list[Publication]:
        """Return publications since a time from which a replica differed, oldest first.

        Forgotten publications are left out.
        """
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id, _PUB.diverged.is_not(None))
            .where(_PUB.published_at >= since, _PUB.forgotten_at.is_(None))
            .order_by(_PUB.published_at, _PUB.generation_id)
        ).mappings()
        return [read_publication(row) for row in rows]

    def lately_diverged(self, since: datetime) -> list[DivergedRange]:
        """Return ranges published since a time of which a replica made other rows; see the port."""
        return read_diverged(self._db.execute(LATELY_DIVERGED, {"since": since}))

    def rejected(self, supervisor_id: str) -> int:
        """Return the number of rejected records of all publications that are not forgotten."""
        total = select(func.coalesce(func.sum(_PUB.rejected), 0)).where(
            text("rejected > 0"),  # as written in the partial index, for SQLite
            _PUB.supervisor_id == supervisor_id,
            _PUB.forgotten_at.is_(None),
        )
        return int(self._db.execute(total).scalar_one())

    def totals(self, small: SmallSizes) -> dict[str, TableTotals]:
        """Return table -> its totals, of the tables that have a file; see the port."""
        return totals(self._db, small)

    def timeline(self, data_source: str, window: TimeWindow) -> list[TimeBucket]:
        """Return the buckets of a table that have a file, newest first; see the port."""
        return timeline(self._db, data_source, window)

    def last_published(self) -> dict[str, datetime]:
        """Return supervisor -> its last publication, of those not terminated; see the port."""
        rows = self._db.execute(LAST_PUBLISHED)
        return {row.supervisor_id: row.last for row in rows if row.last is not None}

    def get(self, segment_id: str) -> Segment | None:
        """Return one segment, deleted or not."""
        return next(iter(self._where(_AT.id == segment_id)), None)

    def whole(self, ids: Collection[str]) -> list[Segment]:
        """Return the given segments that exist, with their spans, in the same order."""
        return self._by_id(sorted(ids))

    def published(self, generation_ids: Collection[str]) -> bool:
        """Return whether each of these generations has a publication."""
        wanted = set(generation_ids)
        counts = (
            select(func.count()).where(_PUB.generation_id.in_(some)) for some in chunks(wanted)
        )
        return sum(self._db.execute(count).scalar_one() for count in counts) == len(wanted)

    def of_task(self, task_id: str) -> list[Segment]:
        """Return all segments that one task published, unused and deleted ones too."""
        return self._where(_AT.task_id == task_id, _AT.compaction_id.is_(None))

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        rows = self._db.execute(
            select(publications).where(_PUB.generation_id == generation_id)
        ).mappings()
        return next((read_publication(row) for row in rows), None)

    def choose(
        self,
        data_source: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        ids: Sequence[str] | None = None,
        deleted: bool = False,
    ) -> list[Segment]:
        """Return segments of a table, used or not; see the port."""
        conditions = _chosen(data_source, start, end, deleted=deleted)
        return self._where(*conditions) if ids is None else self._by_id(ids, *conditions)

    def mark_unused(self, segment_ids: Sequence[str], now: datetime) -> list[ListedSegment]:
        """Take used segments out of their tables; return the segments that changed."""
        return self._mark(segment_ids, _USED, now)

    def mark_used(self, segment_ids: Sequence[str]) -> list[ListedSegment]:
        """Put segments back into their tables; see the port."""
        out = _AT.unused_at.is_not(None) & _KEPT & _AT.replaced_by.is_(None)
        return self._mark(segment_ids, out, None)

    def replace(
        self, segment_ids: Sequence[str], by: Segment, now: datetime
    ) -> list[ListedSegment]:
        """Put a compacted file in the place of used segments; see the port.

        Raises:
            StateMoved: one of the segments is not used, or the compacted file is there already.
        """
        replaced: list[str] = []
        for ids in chunks(segment_ids):
            changed = update(segments).where(_AT.id.in_(ids), _USED)
            values = {"unused_at": now, "replaced_by": by.compaction_id}
            replaced += self._db.execute(changed.values(values).returning(_AT.id)).scalars()
        self._sets.put([by.columns])
        if len(replaced) < len(set(segment_ids)) or not insert_unless_taken(
            self._db, (segments, [segment_row(by)]), (segment_spans, span_rows(by))
        ):
            raise StateMoved(f"an input of {by.compaction_id} is used no more, or it is done")
        return self._changed(replaced)

    def condemn(self, segment_id: str, unused_at: datetime, now: datetime) -> bool:
        """Record, before a file is deleted, that its segment can never be used again.

        False, changing nothing: the segment is used, or was marked unused at another time.
        """
        condemned = self._db.execute(
            update(segments)
            .where(_AT.id == segment_id, _AT.unused_at == unused_at)
            .values(deleted_at=func.coalesce(_AT.deleted_at, now))
            .returning(_AT.id)
        ).one_or_none()
        return condemned is not None

    def forget_publications(self, supervisor_id: str, now: datetime) -> int:
        """Mark the publications of a supervisor as forgotten; return how many were not before."""
        marked = self._db.execute(
            update(publications)
            .where(_PUB.supervisor_id == supervisor_id, _PUB.forgotten_at.is_(None))
            .values(forgotten_at=now)
        )
        return marked.rowcount

    def under(self, folder: str) -> list[str]:
        """Return the files that rows name below a folder of the warehouse; see the port."""
        # A range of the unique index; "0" is the character behind "/".
        paths: list[str] = []
        for path in (_AT.path, folded_rejects.c.path):
            below = select(path).where(path >= f"{folder}/", path < f"{folder}0")
            paths += self._db.execute(below).scalars()
        return sorted(paths)

    def paths_of(self, segment_ids: Collection[str]) -> list[str]:
        """Return the sorted paths of the given segments that exist, deleted ones too."""
        paths: list[str] = []
        for ids in chunks(sorted(segment_ids)):
            paths += self._db.execute(select(_AT.path).where(_AT.id.in_(ids))).scalars()
        return sorted(paths)

    def named_files(self) -> list[NamedFile]:
        """Return every file that the database names, by path: undeleted segments, rejects files."""
        files = self._db.execute(
            select(
                _AT.path,
                _AT.size_bytes,
                _AT.sha256,
                func.coalesce(_AT.compaction_id, _AT.task_id),
            ).where(_KEPT)
        )
        named = [NamedFile(*row) for row in files]
        for row in self._db.execute(
            select(_PUB.rejects, _PUB.task_id).where(_PUB.rejects.is_not(None))
        ):
            file = RejectsFile.model_validate(row.rejects)
            named.append(NamedFile(file.path, file.size_bytes, file.sha256, row.task_id))
        for document in self._db.execute(select(folded_rejects.c.file)).scalars():
            file = RejectsFile.model_validate(document)
            task_id = PurePosixPath(file.path).parent.name
            named.append(NamedFile(file.path, file.size_bytes, file.sha256, task_id))
        return sorted(named, key=lambda file: file.path)

    def _mark(
        self, segment_ids: Sequence[str], expected: ColumnElement[bool], at: datetime | None
    ) -> list[ListedSegment]:
        marked: list[str] = []
        for ids in chunks(segment_ids):
            changed = update(segments).where(_AT.id.in_(ids), expected).values(unused_at=at)
            marked += self._db.execute(changed.returning(_AT.id)).scalars()
        return self._changed(marked)

    def _changed(self, ids: Sequence[str]) -> list[ListedSegment]:
        changed = sorted(self.listed(ids).values(), key=_place)
        self._touched.tables.update(segment.data_source for segment in changed)
        return changed

    def _keys(self, *conditions: ColumnElement[bool]) -> list[SegmentKey]:
        rows = self._db.execute(SEGMENT_KEYS.where(*conditions).order_by(*_IN_ORDER)).mappings()
        return [read_key(row) for row in rows]

    def _by_id(self, ids: Sequence[str], *conditions: ColumnElement[bool]) -> list[Segment]:
        matches = [
            segment
            for some in chunks(ids)
            for segment in self._where(_AT.id.in_(some), *conditions)
        ]
        return sorted(matches, key=_place)

    def _where(self, *conditions: ColumnElement[bool]) -> list[Segment]:
        rows = (
            self._db.execute(select(segments).where(*conditions).order_by(*_IN_ORDER))
            .mappings()
            .all()
        )
        spans: dict[str, list[OffsetSpan]] = {row["id"]: [] for row in rows}
        for span in self._db.execute(
            select(segment_spans)
            .join(segments, _AT.id == _SPAN.segment_id)
            .where(*conditions)
            .order_by(_SPAN.segment_id, _SPAN.position)
        ).mappings():
            if span["segment_id"] in spans:  # else it was published between the two queries
                spans[span["segment_id"]].append(read_span(span))
        columns = self._sets.read({row["column_set"] for row in rows} - {None})
        listed = [read_listed(row, columns.get(row["column_set"], ())) for row in rows]
        return [with_spans(each, spans[each.id]) for each in listed]


def _chosen(
    data_source: str, start: datetime | None, end: datetime | None, *, deleted: bool
) -> list[ColumnElement[bool]]:
    conditions = [_AT.data_source == data_source]
    conditions += [] if deleted else [_KEPT]
    conditions += [] if start is None else [_AT.interval_start >= start]
    return conditions + ([] if end is None else [_AT.interval_end <= end])


def _place(segment: ListedSegment) -> tuple[datetime, datetime, str]:
    """Return the place in a list, as `_IN_ORDER` does."""
    return segment.file.interval_start, segment.file.interval_end, segment.file.path
