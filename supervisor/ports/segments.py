"""What the tables are made of, and how long: published files, and rules that let them go.

    used ── mark_unused ──► unused ── grace time over ──► condemned, then its file is deleted
      ▲                       │ ▲
      └────── mark_used ──────┘ └── replace: a compacted file has come in its place, for good

A condemned segment keeps its row: it tells `verify` which rows were let go on purpose.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.model.replica_digests import Divergence
from supervisor.core.model.rows import NamedFile, Publication, RetentionRule, Segment
from tasks.contract.ingest_spec import Column


class Segments(Protocol):
    """Published files and the publications they belong to."""

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation is published already.
        """
        ...

    def of_data_source(self, data_source: str) -> list[Segment]:
        """Return the used files of a table, which are all that its readers see.

        By interval, then path.
        """
        ...

    def column_sets(self, data_source: str) -> list[tuple[Column, ...]]:
        """Return the different lists of columns that the used files of a table have.

        Files from before columns were recorded are left out.
        """
        ...

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return all that one supervisor published, unused and deleted ones too; same order."""
        ...

    def data_sources(self) -> list[str]:
        """Return every table that has a publication or a segment, by name."""
        ...

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return what was published, oldest first."""
        ...

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest, newest first."""
        ...

    def add_diverged(self, generation_id: str, divergence: Divergence) -> None:
        """Note, of a publication, a replica that came to something else."""
        ...

    def diverged(self, supervisor_id: str, since: datetime) -> list[Publication]:
        """Return those since then from which a replica differed, not forgotten, oldest first."""
        ...

    def rejected(self, supervisor_id: str) -> int:
        """Return how many records became no row, of all publications that are not forgotten."""
        ...

    def get(self, segment_id: str) -> Segment | None:
        """Return one, deleted or not."""
        ...

    def of_task(self, task_id: str) -> list[Segment]:
        """Return all that one task published, unused and deleted ones too; no compacted ones."""
        ...

    def publication(self, generation_id: str) -> Publication | None:
        """Return the publication of one generation."""
        ...

    def choose(
        self,
        data_source: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        ids: Sequence[str] | None = None,
        deleted: bool = False,
    ) -> list[Segment]:
        """Return segments of a table, used or not; deleted ones only if asked for; same order.

        With `start` or `end` only those that lie wholly in `[start, end)`; with `ids` only these.
        """
        ...

    def mark_unused(self, segment_ids: Sequence[str], now: datetime) -> list[Segment]:
        """Take segments out of their tables; return those that were used, as they are now."""
        ...

    def mark_used(self, segment_ids: Sequence[str]) -> list[Segment]:
        """Put segments back; return those that were unused, as they are now.

        Those that are deleted, or were replaced by a compaction, stay out.
        """
        ...

    def replace(self, segment_ids: Sequence[str], by: Segment, now: datetime) -> list[Segment]:
        """Put a compacted file in the place of used segments; return these as they are now.

        Raises:
            StateMoved: one of them is not used any more, or the file is there already; the
                transaction is not to be committed.
        """
        ...

    def condemn(self, segment_id: str, unused_at: datetime, now: datetime) -> bool:
        """Record that its file is being deleted, before it is: it is never used again.

        False, changing nothing: it is used, or was marked unused at another time.  True also if
        that was recorded before.
        """
        ...

    def forget_publications(self, supervisor_id: str, now: datetime) -> int:
        """Mark what a supervisor published as forgotten, unless it is; return how many were not.

        Rows and files stay: they are the table.
        """
        ...

    def under(self, folder: str) -> list[str]:
        """Return the paths of segments below a folder of the warehouse, condemned ones too.

        Whoever cleans up such a folder leaves them alone: when the file of a condemned segment
        goes is for the queue of segment files to decide, which waits for exports that name it.
        """
        ...

    def paths_of(self, segment_ids: Collection[str]) -> list[str]:
        """Return the paths of these segments, deleted ones too, those that there are; by path."""
        ...

    def named_files(self) -> list[NamedFile]:
        """Return every file that the database names, by path: segments not deleted, rejects."""
        ...


class Retention(Protocol):
    """How long the rows of a table are kept; a table without a rule keeps them for ever."""

    def put(self, rule: RetentionRule) -> None:
        """Set the rule of a table, in place of the one before."""
        ...

    def drop(self, data_source: str) -> bool:
        """Keep for ever again.  False: there was no rule."""
        ...

    def of(self, data_source: str) -> RetentionRule | None:
        """Return the rule of a table."""
        ...

    def all(self) -> list[RetentionRule]:
        """Return every rule, by table."""
        ...
