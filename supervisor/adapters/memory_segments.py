"""Published files and publications in memory."""

from collections.abc import Iterable, Sequence

from supervisor.adapters.memory_rows import Tables
from supervisor.core.errors import StateMoved
from supervisor.core.model import Publication, Segment


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
        """Return the published files of a table, by interval, then path."""
        return _ordered(s for s in self._tables.segments.values() if s.data_source == data_source)

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return the files that one supervisor published, in the same order."""
        rows = self._tables.segments.values()
        return _ordered(s for s in rows if s.supervisor_id == supervisor_id)

    def data_sources(self) -> list[str]:
        """Return every table that has a publication, by name."""
        return sorted({row.data_source for row in self._tables.publications.values()})

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

    def rejected(self, supervisor_id: str) -> int:
        """Return how many records of all publications became no row."""
        return sum(row.rejected for row in self.publications(supervisor_id))

    def of_task(self, task_id: str) -> list[Segment]:
        """Return the files that one task published."""
        return _ordered(s for s in self._tables.segments.values() if s.task_id == task_id)

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        return self._tables.publications.get_row(generation_id)


def _ordered(found: Iterable[Segment]) -> list[Segment]:
    return sorted(found, key=lambda s: (s.file.interval_start, s.file.interval_end, s.file.path))
