"""The repository port of history that ends: old rows become compact ones, or go.

    segments that were deleted ──► dropped files of their publication
    publications, end to end   ──► one publication          (`core.history.expiry`)
    ended tasks, compactions, audit entries, kept events ──► gone

Only `chores.expiry` calls the verbs, one supervisor at a time.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from supervisor.core.history.expiry import DroppedFiles, EventCut, EventLimits, Fold, Folded
from supervisor.core.model.rows import Publication, Segment

DroppedByPublication = Mapping[tuple[str, str], DroppedFiles]
"""(generation, table) -> what was deleted."""


class Expiry(Protocol):
    """Ends the life of history; each verb is bounded by `limit` and changes nothing when repeated.

    `before` is the time that a row must have ended by.
    """

    def supervisors(self) -> list[str]:
        """Return every supervisor that has a generation, forgotten ones too, by id."""
        ...

    def old_segments(self, supervisor_id: str, before: datetime, limit: int) -> list[Segment]:
        """Return segments that were condemned before a time, oldest first, with their spans."""
        ...

    def drop_segments(self, condemned: Sequence[Segment], dropped: DroppedByPublication) -> None:
        """Delete the rows of segments, and add what they held to their publications."""
        ...

    def old_publications(
        self, supervisor_id: str, before: datetime, limit: int, *, after: int = 0
    ) -> list[Publication]:
        """Return publications that may be folded, by ordinal, from behind the ordinal `after`.

        Left out are those that were forgotten, those from which a replica differed, that of the
        newest generation, and those with a task whose folder is not settled.
        """
        ...

    def fold(self, fold: Fold) -> None:
        """Make one publication of several; files, rejects and shares go over to it.

        Raises:
            StateMoved: one of them is not what it was; the transaction must not be committed.
        """
        ...

    def folded(self, generation_ids: Sequence[str]) -> dict[str, Folded]:
        """Return generation -> what its publication stands for, where that is more than itself."""
        ...

    def due(self, supervisor_id: str, before: datetime) -> bool:
        """Return whether rows may go: of deleted files, of tasks, of ranges never published."""
        ...

    def oldest_kept(self, supervisor_id: str, before: datetime) -> int:
        """Return the lowest ordinal that is live or ended after a time; none: the one to come."""
        ...

    def delete_tasks(self, supervisor_id: str, before: datetime, limit: int) -> int:
        """Delete ended tasks that nothing names, whose folders are settled; return how many.

        A task stays while its publication or a segment names it, and so does the last attempt of
        each replica of a live range.
        """
        ...

    def delete_compactions(self, before: datetime, limit: int) -> int:
        """Delete ended compactions whose file is no segment any more; return how many."""
        ...

    def event_cuts(self, limits: EventLimits) -> list[EventCut]:
        """Return which of the events that are kept longer are beyond a bound."""
        ...

    def delete_events(self, cut: EventCut, limit: int) -> int:
        """Delete some events of a cut, oldest first; return how many."""
        ...

    def delete_audit(self, before: datetime, limit: int, up_to: int | None = None) -> int:
        """Delete the oldest audit entries from before a time; return how many.

        `up_to`: no higher number; None: all.
        """
        ...
