"""The repository of segments and publications: published files, their proof, their deletion."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, RowMapping, func, select, union, update

from supervisor.core.model.replica_digests import Divergence, read_stored, stored
from supervisor.core.model.rows import NamedFile, Publication, Segment
from supervisor.core.values.errors import StateMoved
from supervisor.metadata.schema.column_sets import StoredColumnSets, set_id
from supervisor.metadata.schema.rows import chunks, insert_unless_taken
from supervisor.metadata.schema.tables import publications, segment_spans, segments
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, RejectSample, RejectsFile, SegmentFile

_AT = segments.c
_SPAN = segment_spans.c
_PUB = publications.c
_USED = _AT.unused_at.is_(None)
_KEPT = _AT.deleted_at.is_(None)


class SqlSegments:
    """See `ports.segments.Segments`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._sets = StoredColumnSets(connection)

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation, or one of its files, is published already.
        """
        self._sets.put({segment.columns for segment in segments})
        if not insert_unless_taken(
            self._db,
            (publications, [_publication_row(publication)]),
            (_AT.id.table, [_segment_row(segment) for segment in segments]),
            (segment_spans, [row for segment in segments for row in _span_rows(segment)]),
        ):
            raise StateMoved(f"{publication.generation_id}, or one of its files, is published")

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
        names = union(select(_PUB.data_source), select(_AT.data_source)).order_by("data_source")
        return list(self._db.execute(names).scalars())

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return the publications of a supervisor, oldest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at, _PUB.generation_id)
        ).mappings()
        return [_read_publication(row) for row in rows]

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest publications, newest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at.desc(), _PUB.generation_id.desc())
            .limit(limit)
        ).mappings()
        return [_read_publication(row) for row in rows]

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
        return [_read_publication(row) for row in rows]

    def rejected(self, supervisor_id: str) -> int:
        """Return the number of rejected records of all publications that are not forgotten."""
        total = select(func.coalesce(func.sum(_PUB.rejected), 0)).where(
            _PUB.supervisor_id == supervisor_id, _PUB.forgotten_at.is_(None)
        )
        return int(self._db.execute(total).scalar_one())

    def get(self, segment_id: str) -> Segment | None:
        """Return one segment, deleted or not."""
        return next(iter(self._where(_AT.id == segment_id)), None)

    def of_task(self, task_id: str) -> list[Segment]:
        """Return all segments that one task published, unused and deleted ones too."""
        return self._where(_AT.task_id == task_id, _AT.compaction_id.is_(None))

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        rows = self._db.execute(
            select(publications).where(_PUB.generation_id == generation_id)
        ).mappings()
        return next((_read_publication(row) for row in rows), None)

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
        conditions = [_AT.data_source == data_source]
        conditions += [] if deleted else [_KEPT]
        conditions += [] if start is None else [_AT.interval_start >= start]
        conditions += [] if end is None else [_AT.interval_end <= end]
        return self._where(*conditions) if ids is None else self._by_id(ids, *conditions)

    def mark_unused(self, segment_ids: Sequence[str], now: datetime) -> list[Segment]:
        """Take used segments out of their tables; return the segments that changed."""
        return self._mark(segment_ids, _USED, now)

    def mark_used(self, segment_ids: Sequence[str]) -> list[Segment]:
        """Put segments back into their tables; see the port."""
        out = _AT.unused_at.is_not(None) & _KEPT & _AT.replaced_by.is_(None)
        return self._mark(segment_ids, out, None)

    def replace(self, segment_ids: Sequence[str], by: Segment, now: datetime) -> list[Segment]:
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
            self._db, (segments, [_segment_row(by)]), (segment_spans, _span_rows(by))
        ):
            raise StateMoved(f"an input of {by.compaction_id} is used no more, or it is done")
        return self._by_id(replaced)

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
        """Return the paths of segments, condemned ones too, below a folder of the warehouse."""
        # A range of the unique index; "0" is the character behind "/".
        below = (_AT.path >= f"{folder}/", _AT.path < f"{folder}0")
        return list(self._db.execute(select(_AT.path).where(*below).order_by(_AT.path)).scalars())

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
        return sorted(named, key=lambda file: file.path)

    def _mark(
        self, segment_ids: Sequence[str], expected: ColumnElement[bool], at: datetime | None
    ) -> list[Segment]:
        marked: list[str] = []
        for ids in chunks(segment_ids):
            changed = update(segments).where(_AT.id.in_(ids), expected).values(unused_at=at)
            marked += self._db.execute(changed.returning(_AT.id)).scalars()
        return self._by_id(marked)

    def _by_id(self, ids: Sequence[str], *conditions: ColumnElement[bool]) -> list[Segment]:
        matches = [
            segment
            for some in chunks(ids)
            for segment in self._where(_AT.id.in_(some), *conditions)
        ]
        return sorted(
            matches, key=lambda s: (s.file.interval_start, s.file.interval_end, s.file.path)
        )

    def _where(self, *conditions: ColumnElement[bool]) -> list[Segment]:
        rows = (
            self._db.execute(
                select(segments)
                .where(*conditions)
                .order_by(_AT.interval_start, _AT.interval_end, _AT.path)
            )
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
                spans[span["segment_id"]].append(_read_span(span))
        columns = self._sets.read({row["column_set"] for row in rows} - {None})
        return [
            _read_segment(row, spans[row["id"]], columns.get(row["column_set"], ())) for row in rows
        ]


def _publication_row(publication: Publication) -> dict[str, object]:
    rejects = publication.rejects
    return {
        "generation_id": publication.generation_id,
        "supervisor_id": publication.supervisor_id,
        "data_source": publication.data_source,
        "task_id": publication.task_id,
        "published_at": publication.published_at,
        "start_offsets": publication.start,
        "end_offsets": publication.end,
        "rows": publication.rows,
        "rejected": publication.rejected,
        "rejects": None if rejects is None else rejects.model_dump(mode="json"),
        "samples": [sample.model_dump(mode="json") for sample in publication.samples],
        "digest": publication.digest,
        "diverged": [stored(found) for found in publication.diverged] or None,
        "forgotten_at": publication.forgotten_at,
    }


def _read_publication(row: RowMapping) -> Publication:
    rejects: Mapping[str, object] | None = row["rejects"]
    return Publication(
        generation_id=row["generation_id"],
        supervisor_id=row["supervisor_id"],
        data_source=row["data_source"],
        task_id=row["task_id"],
        published_at=row["published_at"],
        start=row["start_offsets"],
        end=row["end_offsets"],
        rows=row["rows"],
        rejected=row["rejected"],
        rejects=None if rejects is None else RejectsFile.model_validate(rejects),
        samples=tuple(RejectSample.model_validate(sample) for sample in row["samples"]),
        digest=row["digest"],
        diverged=tuple(read_stored(found) for found in row["diverged"] or ()),
        forgotten_at=row["forgotten_at"],
    )


def _segment_row(segment: Segment) -> dict[str, object]:
    file = segment.file
    return {
        "id": segment.id,
        "data_source": segment.data_source,
        "supervisor_id": segment.supervisor_id,
        "generation_id": segment.generation_id,
        "task_id": segment.task_id,
        "published_at": segment.published_at,
        "path": file.path,
        "interval_start": file.interval_start,
        "interval_end": file.interval_end,
        "rows": file.rows,
        "size_bytes": file.size_bytes,
        "sha256": file.sha256,
        "time_min": file.time_min,
        "time_max": file.time_max,
        "column_set": set_id(segment.columns),
        "unused_at": segment.unused_at,
        "deleted_at": segment.deleted_at,
        "compaction_id": segment.compaction_id,
        "replaced_by": segment.replaced_by,
    }


def _span_rows(segment: Segment) -> list[dict[str, object]]:
    return [
        {
            "segment_id": segment.id,
            "position": position,
            "topic": span.topic,
            "partition": span.partition,
            "first": span.first,
            "last": span.last,
            "rows": span.rows,
        }
        for position, span in enumerate(segment.file.spans)
    ]


def _read_span(row: RowMapping) -> OffsetSpan:
    return OffsetSpan(
        topic=row["topic"],
        partition=row["partition"],
        first=row["first"],
        last=row["last"],
        rows=row["rows"],
    )


def _read_segment(
    row: RowMapping, spans: Sequence[OffsetSpan], columns: tuple[Column, ...]
) -> Segment:
    return Segment(
        id=row["id"],
        data_source=row["data_source"],
        supervisor_id=row["supervisor_id"],
        generation_id=row["generation_id"],
        task_id=row["task_id"],
        published_at=row["published_at"],
        file=SegmentFile(
            path=row["path"],
            interval_start=row["interval_start"],
            interval_end=row["interval_end"],
            rows=row["rows"],
            size_bytes=row["size_bytes"],
            sha256=row["sha256"],
            time_min=row["time_min"],
            time_max=row["time_max"],
            spans=tuple(spans),
        ),
        columns=columns,
        unused_at=row["unused_at"],
        deleted_at=row["deleted_at"],
        compaction_id=row["compaction_id"],
        replaced_by=row["replaced_by"],
    )
