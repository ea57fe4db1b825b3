"""Published files and publications in memory."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from supervisor.adapters.memory_rows import Tables
from supervisor.core.divergence import Divergence
from supervisor.core.errors import StateMoved
from supervisor.core.model import NamedFile, Publication, Segment
from tasks.ingest_spec import Column


class MemorySegments:
    """See `ports.Segments`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation, or one of the files, is published already.
        """
        generation_id = publication.generation_id
        assert publication.task_id in self._tables.tasks, "a publication belongs to a task"
        stored = self._tables.segments
        files = [*(segment.file.path for segment in stored.values())]
        files += [segment.file.path for segment in segments]
        ids = [*stored, *(segment.id for segment in segments)]
        is_new = generation_id not in self._tables.publications
        if not is_new or len(set(files)) < len(files) or len(set(ids)) < len(ids):
            raise StateMoved(f"{generation_id}, or one of its files, is published")
        self._tables.publications.put(generation_id, publication)
        for segment in segments:
            stored.put(segment.id, segment)

    def of_data_source(self, data_source: str) -> list[Segment]:
        """Return the used files of a table, which are all that its readers see; see the port."""
        rows = self._tables.segments.values()
        return _ordered(s for s in rows if s.data_source == data_source and s.used)

    def column_sets(self, data_source: str) -> list[tuple[Column, ...]]:
        """Return the lists of columns of a table's used files; see the port."""
        held = dict.fromkeys(s.columns for s in self.of_data_source(data_source))
        return [columns for columns in held if columns]

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return all that one supervisor published, unused and deleted ones too; same order."""
        rows = self._tables.segments.values()
        return _ordered(s for s in rows if s.supervisor_id == supervisor_id)

    def data_sources(self) -> list[str]:
        """Return every table that has a publication or a segment, by name."""
        published = {row.data_source for row in self._tables.publications.values()}
        return sorted(published | {row.data_source for row in self._tables.segments.values()})

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return what was published, oldest first."""
        rows = self._tables.publications.values()
        return sorted(
            (row for row in rows if row.supervisor_id == supervisor_id),
            key=lambda row: (row.published_at, row.generation_id),
        )

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest, newest first."""
        return self.publications(supervisor_id)[::-1][:limit]

    def add_diverged(self, generation_id: str, found: Divergence) -> None:
        """Note, of a publication, a replica that came to something else."""
        row = self._tables.publications[generation_id]
        self._tables.publications.put(generation_id, replace(row, diverged=(*row.diverged, found)))

    def diverged(self, supervisor_id: str, since: datetime) -> list[Publication]:
        """Return those since then from which a replica differed, not forgotten, oldest first."""
        rows = self.publications(supervisor_id)
        lasting = [row for row in rows if row.diverged and row.forgotten_at is None]
        return [row for row in lasting if row.published_at >= since]

    def rejected(self, supervisor_id: str) -> int:
        """Return how many records became no row, of all publications that are not forgotten."""
        rows = self.publications(supervisor_id)
        return sum(row.rejected for row in rows if row.forgotten_at is None)

    def get(self, segment_id: str) -> Segment | None:
        """Return one, deleted or not."""
        return self._tables.segments.get_row(segment_id)

    def of_task(self, task_id: str) -> list[Segment]:
        """Return all that one task published, unused and deleted ones too."""
        rows = self._tables.segments.values()
        return _ordered(s for s in rows if s.task_id == task_id and s.compaction_id is None)

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        return self._tables.publications.get_row(generation_id)

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
        wanted = self._tables.segments.keys() if ids is None else set(ids)
        return _ordered(
            segment
            for segment in self._tables.segments.values()
            if segment.data_source == data_source
            and (deleted or segment.deleted_at is None)
            and segment.id in wanted
            and (start is None or segment.file.interval_start >= start)
            and (end is None or segment.file.interval_end <= end)
        )

    def mark_unused(self, segment_ids: Sequence[str], now: datetime) -> list[Segment]:
        """Take segments out of their tables; return those that were used, as they are now."""
        return self._mark([s for s in self._of(segment_ids) if s.used], now)

    def mark_used(self, segment_ids: Sequence[str]) -> list[Segment]:
        """Put segments back; see the port."""
        out = [s for s in self._of(segment_ids) if not s.used and s.deleted_at is None]
        return self._mark([s for s in out if s.replaced_by is None], None)

    def replace(self, segment_ids: Sequence[str], by: Segment, now: datetime) -> list[Segment]:
        """Put a compacted file in the place of used segments; see the port.

        Raises:
            StateMoved: one of them is not used, or the file is there already.
        """
        assert by.compaction_id in self._tables.compactions, "a compacted file has a compaction"
        found = [segment for segment in self._of(segment_ids) if segment.used]
        stored = self._tables.segments
        paths = {segment.file.path for segment in stored.values()}
        if len(found) < len(set(segment_ids)) or by.id in stored or by.file.path in paths:
            raise StateMoved(f"an input of {by.compaction_id} is used no more, or it is done")
        replaced = [replace(s, unused_at=now, replaced_by=by.compaction_id) for s in found]
        for segment in (*replaced, by):
            stored.put(segment.id, segment)
        return _ordered(replaced)

    def condemn(self, segment_id: str, unused_at: datetime, now: datetime) -> bool:
        """Record that its file is being deleted, before it is: it is never used again.

        False, changing nothing: it is used, or was marked unused at another time.
        """
        found = self._tables.segments.get_row(segment_id)
        if found is None or found.unused_at != unused_at:
            return False
        self._tables.segments.put(segment_id, replace(found, deleted_at=found.deleted_at or now))
        return True

    def forget_publications(self, supervisor_id: str, now: datetime) -> int:
        """Mark what a supervisor published as forgotten, unless it is; return how many were not."""
        found = [row for row in self.publications(supervisor_id) if row.forgotten_at is None]
        for row in found:
            self._tables.publications.put(row.generation_id, replace(row, forgotten_at=now))
        return len(found)

    def under(self, folder: str) -> list[str]:
        """Return the paths of segments, condemned ones too, below a folder of the warehouse."""
        return sorted(
            segment.file.path
            for segment in self._tables.segments.values()
            if segment.file.path.startswith(f"{folder}/")
        )

    def paths_of(self, segment_ids: Collection[str]) -> list[str]:
        """Return the paths of these segments, deleted ones too, those that there are; by path."""
        return sorted(segment.file.path for segment in self._of(segment_ids))

    def named_files(self) -> list[NamedFile]:
        """Return every file that the database names, by path: segments not deleted, rejects."""
        found = [
            NamedFile(s.file.path, s.file.size_bytes, s.file.sha256, s.written_by)
            for s in self._tables.segments.values()
            if s.deleted_at is None
        ]
        found += [
            NamedFile(row.rejects.path, row.rejects.size_bytes, row.rejects.sha256, row.task_id)
            for row in self._tables.publications.values()
            if row.rejects is not None
        ]
        return sorted(found, key=lambda file: file.path)

    def _of(self, segment_ids: Collection[str]) -> list[Segment]:
        rows = self._tables.segments
        return [rows[segment_id] for segment_id in set(segment_ids) & rows.keys()]

    def _mark(self, found: Sequence[Segment], at: datetime | None) -> list[Segment]:
        marked = [replace(segment, unused_at=at) for segment in found]
        for segment in marked:
            self._tables.segments.put(segment.id, segment)
        return _ordered(marked)


def _ordered(found: Iterable[Segment]) -> list[Segment]:
    return sorted(found, key=lambda s: (s.file.interval_start, s.file.interval_end, s.file.path))
