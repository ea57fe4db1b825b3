"""Repository ports of segments, publications and retention rules, with a segment's life cycle.

    used ── mark_unused ──► unused ── grace time over ──► condemned, then its file is deleted
      ▲                       │ ▲
      └────── mark_used ──────┘ └── replace: a compacted file has taken its place, for good

A condemned segment keeps its row, so that `verify` knows which rows were deleted on purpose.  Long
after, the row becomes numbers of its publication (`ports.expiry`).
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.attention.divergence import DivergedRange
from supervisor.core.history.coverage.publications import CoveredRange
from supervisor.core.model.listed_segments import ListedSegment, SegmentKey
from supervisor.core.model.replica_digests import Divergence
from supervisor.core.model.rows import NamedFile, Publication, RetentionRule, Segment
from supervisor.core.tables.totals import SmallSizes, TableTotals, TimeBucket, TimeWindow
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan


class Segments(Protocol):
    """Published files, and the publications that they belong to.

    A list of any size is read as keys, by one statement, and then page by page outside of that
    transaction (`chores.file_lists`).  Whole segments are for few files.
    """

    def add(self, publication: Publication, segments: Sequence[Segment]) -> None:
        """Insert a publication with its segments.

        Raises:
            StateMoved: the generation is published already.
        """
        ...

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
        """Return which segments a table has, by interval, then path; with `ids`, in no order.

        They are one version of the list: those of one moment.  `used` None: used or not.  Deleted
        segments are returned only with `deleted`.  With `start` or `end`, only segments that lie
        wholly in `[start, end)` are returned; with `ids`, only these segments.
        """
        ...

    def keys_of_supervisor(self, supervisor_id: str) -> list[SegmentKey]:
        """Return which segments a supervisor has, unused and deleted too, in the same order."""
        ...

    def listed(self, ids: Collection[str]) -> dict[str, ListedSegment]:
        """Return id -> segment without its spans, as it is now, for the ids that exist."""
        ...

    def spans(self, ids: Collection[str]) -> dict[str, tuple[OffsetSpan, ...]]:
        """Return id -> offset spans, for the segments that have some."""
        ...

    def all_used(self, data_source: str, ids: Collection[str]) -> bool:
        """Return whether all of these are used segments of the table."""
        ...

    def of_data_source(self, data_source: str) -> list[Segment]:
        """Return the used files of a table, which are all files that its readers see.

        By interval, then path.
        """
        ...

    def column_sets(self, data_source: str) -> list[tuple[Column, ...]]:
        """Return the different lists of columns that the used files of a table have.

        Files from before columns were recorded are left out.
        """
        ...

    def of_supervisor(self, supervisor_id: str) -> list[Segment]:
        """Return all segments of one supervisor, unused and deleted ones too, in the same order."""
        ...

    def totals(self, small: SmallSizes) -> dict[str, TableTotals]:
        """Return table -> its totals, of the tables that have a file that is not deleted.

        `small` says which files count as small.

        One statement over the rows of all files: a caller keeps what it returns for a while.
        """
        ...

    def timeline(self, data_source: str, window: TimeWindow) -> list[TimeBucket]:
        """Return the newest buckets of a table that have a file, newest first; one statement."""
        ...

    def data_sources(self) -> list[str]:
        """Return every table that has a publication or a segment, by name."""
        ...

    def publications(self, supervisor_id: str) -> list[Publication]:
        """Return the publications of a supervisor, oldest first."""
        ...

    def recent_publications(self, supervisor_id: str, limit: int) -> list[Publication]:
        """Return the newest publications, newest first."""
        ...

    def published_ranges(
        self, supervisor_id: str, since: datetime | None = None
    ) -> list[CoveredRange]:
        """Return what its publications cover; `since`: only those published then or later.

        Forgotten publications are left out.  They come in no order.
        """
        ...

    def add_diverged(self, generation_id: str, divergence: Divergence) -> None:
        """Record a replica whose records differ from those of a publication."""
        ...

    def diverged(self, supervisor_id: str, since: datetime) -> list[Publication]:
        """Return publications since a time from which a replica differed, oldest first.

        Forgotten publications are left out.
        """
        ...

    def lately_diverged(self, since: datetime) -> list[DivergedRange]:
        """Return the ranges published since a time of which a replica made other rows.

        Those of all supervisors, in no order; forgotten publications are left out.
        """
        ...

    def rejected(self, supervisor_id: str) -> int:
        """Return the number of rejected records of all publications that are not forgotten."""
        ...

    def last_published(self) -> dict[str, datetime]:
        """Return supervisor -> its last publication, of those that are not terminated.

        Those without one are left out.  The cost is one look per supervisor, however many
        publications there are.
        """
        ...

    def get(self, segment_id: str) -> Segment | None:
        """Return one segment, deleted or not."""
        ...

    def published(self, generation_ids: Collection[str]) -> bool:
        """Return whether each of these generations has a publication; else it was folded."""
        ...

    def of_task(self, task_id: str) -> list[Segment]:
        """Return all segments that one task published, unused and deleted too, not compacted."""
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
        """Return segments of a table, used or not, in the same order.

        Deleted segments are returned only with `deleted`.  With `start` or `end`, only segments
        that lie wholly in `[start, end)` are returned; with `ids`, only these segments.
        """
        ...

    def mark_unused(self, segment_ids: Sequence[str], now: datetime) -> list[ListedSegment]:
        """Take used segments out of their tables; return the segments that changed."""
        ...

    def mark_used(self, segment_ids: Sequence[str]) -> list[ListedSegment]:
        """Put segments back into their tables; return the segments that changed, as they are now.

        Segments that are deleted, or were replaced by a compaction, stay out.
        """
        ...

    def replace(
        self, segment_ids: Sequence[str], by: Segment, now: datetime
    ) -> list[ListedSegment]:
        """Put a compacted file in the place of used segments; return the replaced segments.

        Raises:
            StateMoved: one of the segments is no longer used, or the compacted file is there
                already; the transaction must not be committed.
        """
        ...

    def condemn(self, segment_id: str, unused_at: datetime, now: datetime) -> bool:
        """Record, before a file is deleted, that its segment can never be used again.

        False, changing nothing: the segment is used, or was marked unused at another time.  True
        also if this was recorded before.
        """
        ...

    def forget_publications(self, supervisor_id: str, now: datetime) -> int:
        """Mark the publications of a supervisor as forgotten; return how many were not before.

        Rows and files stay, because they are the table.
        """
        ...

    def under(self, folder: str) -> list[str]:
        """Return the files that rows name below a folder: segments, condemned ones too.

        Rejects files of folded ranges are among them; that of a publication's own task is not.

        A cleanup of such a folder must leave these files alone.  The queue of segment files decides
        when the file of a condemned segment is deleted, because it waits for exports that name the
        file.
        """
        ...

    def paths_of(self, segment_ids: Collection[str]) -> list[str]:
        """Return the sorted paths of the given segments that exist, deleted ones too."""
        ...

    def named_files(self) -> list[NamedFile]:
        """Return every file that the database names, by path: undeleted segments, rejects files."""
        ...


class Retention(Protocol):
    """Retention rules of tables; a table without a rule keeps its rows for ever."""

    def put(self, rule: RetentionRule) -> None:
        """Set the rule of a table, in place of the one before."""
        ...

    def drop(self, data_source: str) -> bool:
        """Delete the rule, so that rows are kept for ever; False: there was no rule."""
        ...

    def of(self, data_source: str) -> RetentionRule | None:
        """Return the rule of a table."""
        ...

    def all(self) -> list[RetentionRule]:
        """Return every rule, by table."""
        ...
