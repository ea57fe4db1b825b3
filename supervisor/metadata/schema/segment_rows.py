"""Rows of publications, segments and offset spans, to and from the values that layers share."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Row, RowMapping, bindparam, func, select, text

from supervisor.core.attention.divergence import DivergedRange
from supervisor.core.model.listed_segments import ListedFile, ListedSegment, SegmentKey
from supervisor.core.model.replica_digests import Comparison, read_stored, stored
from supervisor.core.model.rows import Publication, Segment
from supervisor.metadata.schema.column_sets import set_id
from supervisor.metadata.schema.tables import PRESENT, publications, segments, supervisor_specs
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan, RejectSample, RejectsFile

_PUB = publications.c
_AT = segments.c
SEGMENT_KEYS = select(
    *(_AT.id, _AT.data_source, _AT.supervisor_id, _AT.unused_at, _AT.deleted_at, _AT.replaced_by),
    *(_AT.rows, _AT.size_bytes),
)
_FIRST_STORED = (
    select(supervisor_specs.c.created_at)
    .where(supervisor_specs.c.supervisor_id == PRESENT.c.supervisor_id)
    .order_by(supervisor_specs.c.version)
    .limit(1)
    .correlate(PRESENT)
    .scalar_subquery()
)
"""When the first version was stored: what a forgotten supervisor of the id published is older."""
LAST_PUBLISHED = select(
    PRESENT.c.supervisor_id,
    select(func.max(_PUB.published_at))
    .where(_PUB.supervisor_id == PRESENT.c.supervisor_id, _PUB.published_at >= _FIRST_STORED)
    .correlate(PRESENT)
    .scalar_subquery()
    .label("last"),
)
LATELY_DIVERGED = (
    select(
        _PUB.supervisor_id,
        _PUB.data_source,
        _PUB.generation_id,
        _PUB.published_at,
        _PUB.diverged,
    )
    .where(text("diverged IS NOT NULL"))  # as written in the partial index, for SQLite
    .where(_PUB.published_at >= bindparam("since"), _PUB.forgotten_at.is_(None))
)
COVERED_RANGES = select(
    _PUB.generation_id,
    _PUB.published_at,
    _PUB.start_offsets,
    _PUB.end_offsets,
    _PUB.rows,
    _PUB.rejected,
    func.coalesce(_PUB.ranges, 1),
)


def read_diverged(rows: Iterable[Row[Any]]) -> list[DivergedRange]:
    """Return the ranges of `LATELY_DIVERGED` of which a replica made other rows."""
    return [
        DivergedRange(row.supervisor_id, row.data_source, row.generation_id, row.published_at)
        for row in rows
        if any(read_stored(each).comparison is Comparison.OTHER_ROWS for each in row.diverged)
    ]


def publication_row(publication: Publication) -> dict[str, object]:
    """Return a publication as the values of its row."""
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
        "ranges": publication.ranges,
    }


def read_publication(row: RowMapping) -> Publication:
    """Return the publication of a row."""
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
        ranges=row["ranges"] or 1,
    )


def segment_row(segment: Segment) -> dict[str, object]:
    """Return a segment as the values of its row; its spans have rows of their own."""
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


def span_rows(segment: Segment) -> list[dict[str, object]]:
    """Return the offset spans of a segment as the values of their rows."""
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


def read_span(row: RowMapping) -> OffsetSpan:
    """Return the offset span of a row."""
    return OffsetSpan(
        topic=row["topic"],
        partition=row["partition"],
        first=row["first"],
        last=row["last"],
        rows=row["rows"],
    )


def read_listed(row: RowMapping, columns: tuple[Column, ...]) -> ListedSegment:
    """Return the segment of a row, with its columns and without its spans."""
    return ListedSegment(
        id=row["id"],
        data_source=row["data_source"],
        supervisor_id=row["supervisor_id"],
        generation_id=row["generation_id"],
        task_id=row["task_id"],
        published_at=row["published_at"],
        file=ListedFile(
            path=row["path"],
            interval_start=row["interval_start"],
            interval_end=row["interval_end"],
            rows=row["rows"],
            size_bytes=row["size_bytes"],
            sha256=row["sha256"],
            time_min=row["time_min"],
            time_max=row["time_max"],
        ),
        columns=columns,
        unused_at=row["unused_at"],
        deleted_at=row["deleted_at"],
        compaction_id=row["compaction_id"],
        replaced_by=row["replaced_by"],
    )


def read_key(row: RowMapping) -> SegmentKey:
    """Return the key of a row."""
    return SegmentKey(**row)
