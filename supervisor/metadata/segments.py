"""Published files and the row that proves their range was published."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, RowMapping, func, select

from supervisor.core.errors import StateMoved
from supervisor.core.model import Publication, Segment
from supervisor.metadata.rows import insert_unless_taken
from supervisor.metadata.tables import publications, segment_spans, segments
from tasks.contract import OffsetSpan, RejectSample, RejectsFile, SegmentFile

_AT = segments.c
_SPAN = segment_spans.c
_PUB = publications.c


class SqlSegments:
    """See `ports.Segments`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation, or one of the files, is published already.
        """
        if not insert_unless_taken(
            self._db,
            (publications, [_publication_row(publication)]),
            (_AT.id.table, [_segment_row(segment) for segment in segments]),
            (segment_spans, [row for segment in segments for row in _span_rows(segment)]),
        ):
            raise StateMoved(f"{publication.generation_id}, or one of its files, is published")

    def of_data_source(self, data_source: str) -> list[Segment]:
        """Return the published files of a table, by interval, then path."""
        return self._where(_AT.data_source == data_source)

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return the files that one supervisor published, in the same order."""
        return self._where(_AT.supervisor_id == supervisor_id)

    def data_sources(self) -> list[str]:
        """Return every table that has a publication, by name."""
        names = select(_PUB.data_source).distinct().order_by(_PUB.data_source)
        return list(self._db.execute(names).scalars())

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return what was published, oldest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at, _PUB.generation_id)
        ).mappings()
        return [_read_publication(row) for row in rows]

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest, newest first."""
        rows = self._db.execute(
            select(publications)
            .where(_PUB.supervisor_id == supervisor_id)
            .order_by(_PUB.published_at.desc(), _PUB.generation_id.desc())
            .limit(limit)
        ).mappings()
        return [_read_publication(row) for row in rows]

    def rejected(self, supervisor_id: str) -> int:
        """Return how many records of all publications became no row."""
        total = select(func.coalesce(func.sum(_PUB.rejected), 0))
        return int(self._db.execute(total.where(_PUB.supervisor_id == supervisor_id)).scalar_one())

    def of_task(self, task_id: str) -> list[Segment]:
        """Return the files that one task published."""
        return self._where(segments.c.task_id == task_id)

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        rows = self._db.execute(
            select(publications).where(_PUB.generation_id == generation_id)
        ).mappings()
        return next((_read_publication(row) for row in rows), None)

    def _where(self, condition: ColumnElement[bool]) -> list[Segment]:
        rows = (
            self._db.execute(
                select(segments)
                .where(condition)
                .order_by(_AT.interval_start, _AT.interval_end, _AT.path)
            )
            .mappings()
            .all()
        )
        spans: dict[str, list[OffsetSpan]] = {row["id"]: [] for row in rows}
        for span in self._db.execute(
            select(segment_spans)
            .join(segments, _AT.id == _SPAN.segment_id)
            .where(condition)
            .order_by(_SPAN.segment_id, _SPAN.position)
        ).mappings():
            if span["segment_id"] in spans:  # else it was published between the two queries
                spans[span["segment_id"]].append(_read_span(span))
        return [_read_segment(row, spans[row["id"]]) for row in rows]


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


def _read_segment(row: RowMapping, spans: Sequence[OffsetSpan]) -> Segment:
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
    )
