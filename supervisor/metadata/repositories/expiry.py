"""The repository of history that ends; see `ports.expiry`."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Select,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from supervisor.core.history.expiry import (
    NO_FILES,
    DroppedFiles,
    EventCut,
    EventLimits,
    Fold,
    Folded,
    folded_shares,
)
from supervisor.core.model.rows import Publication, Segment, TaskStatus
from supervisor.core.values.errors import StateMoved
from supervisor.core.values.table_names import errors_table
from supervisor.metadata.repositories.compaction import document_of_share, read_share
from supervisor.metadata.repositories.segments import SqlSegments
from supervisor.metadata.schema.compaction import compactions
from supervisor.metadata.schema.expiry import dropped_files, folded_rejects
from supervisor.metadata.schema.history import audit, kept_happenings
from supervisor.metadata.schema.rows import chunks, distinct_values
from supervisor.metadata.schema.segment_rows import read_publication
from supervisor.metadata.schema.tables import (
    generation_partitions,
    generations,
    publications,
    segment_spans,
    segments,
    tasks,
)
from supervisor.ports.expiry import DroppedByPublication
from tasks.contract.messages import OffsetSpan, RejectsFile

_PUB = publications.c
_GEN = generations.c
_TASK = tasks.c
_SEG = segments.c
_PART = generation_partitions.c
_DROPPED = dropped_files.c
_REJECTS = folded_rejects.c
_KEPT = kept_happenings.c
_ENDED = (TaskStatus.SUCCESS, TaskStatus.FAILED)


class SqlExpiry:
    """See `ports.expiry.Expiry`."""

    def __init__(self, connection: Connection, files: SqlSegments) -> None:
        self._db = connection
        self._files = files

    def supervisors(self) -> list[str]:
        """Return every supervisor that has a generation, by id."""
        return distinct_values(self._db, _GEN.supervisor_id)

    # -- segments --------------------------------------------------------------------------------

    def old_segments(self, supervisor_id: str, before: datetime, limit: int) -> list[Segment]:
        """Return segments that were condemned before a time, oldest first, with their spans."""
        old = _old_segments(supervisor_id, before)
        ids = old.order_by(_SEG.deleted_at, _SEG.id).limit(limit)
        return self._files.whole([row.id for row in self._db.execute(ids)])

    def drop_segments(self, condemned: Sequence[Segment], dropped: DroppedByPublication) -> None:
        """Delete the rows of segments, and add what they held to their publications."""
        for (generation_id, data_source), files in sorted(dropped.items()):
            self._put_dropped(generation_id, data_source, files)
        for ids in chunks(segment.id for segment in condemned):
            self._db.execute(delete(segment_spans).where(segment_spans.c.segment_id.in_(ids)))
            self._db.execute(delete(segments).where(_SEG.id.in_(ids)))

    def _put_dropped(self, generation_id: str, data_source: str, files: DroppedFiles) -> None:
        mine = (_DROPPED.generation_id == generation_id, _DROPPED.data_source == data_source)
        before = self._dropped(*mine).get(generation_id, {}).get(data_source)
        total = (before or NO_FILES) + files
        row = {
            "generation_id": generation_id,
            "data_source": data_source,
            "files": total.files,
            "rows": total.rows,
            "spans": [span.model_dump(mode="json") for span in total.spans],
        }
        change = insert(dropped_files) if before is None else update(dropped_files).where(*mine)
        self._db.execute(change.values(row))

    def _dropped(self, *conditions: ColumnElement[bool]) -> dict[str, dict[str, DroppedFiles]]:
        """Return generation -> table -> its deleted files."""
        by_publication: dict[str, dict[str, DroppedFiles]] = {}
        for row in self._db.execute(select(dropped_files).where(*conditions)):
            spans = tuple(OffsetSpan.model_validate(span) for span in row.spans)
            files = DroppedFiles(row.files, row.rows, spans)
            by_publication.setdefault(row.generation_id, {})[row.data_source] = files
        return by_publication

    # -- publications ----------------------------------------------------------------------------

    def old_publications(
        self, supervisor_id: str, before: datetime, limit: int, *, after: int = 0
    ) -> list[Publication]:
        """Return publications that may be folded, by ordinal; see the port."""
        newest = select(func.max(_GEN.ordinal)).where(_GEN.supervisor_id == supervisor_id)
        old = _may_fold(
            _GEN.supervisor_id == supervisor_id,
            _GEN.ordinal > after,
            _GEN.ordinal < newest.scalar_subquery(),
            _PUB.published_at < before,
        )
        return self._publications(*old, limit=limit)

    def _publications(
        self, *conditions: ColumnElement[bool], limit: int | None = None
    ) -> list[Publication]:
        query = select(publications).join(generations, _GEN.id == _PUB.generation_id)
        rows = self._db.execute(query.where(*conditions).order_by(_GEN.ordinal).limit(limit))
        return [read_publication(row) for row in rows.mappings()]

    def fold(self, fold: Fold) -> None:
        """Make one publication of several; see the port."""
        into, others = fold.into.generation_id, [each.generation_id for each in fold.others]
        expected = [fold.into, *fold.others]
        if self._publications(*_may_fold(_PUB.generation_id.in_([into, *others]))) != expected:
            raise StateMoved(f"a publication to be folded into {into} has changed")
        self._fold_files(into, others)
        self._fold_rejects(fold)
        self._fold_shares(fold.into, others)
        result = fold.result()
        values = {
            "end_offsets": result.end,
            "rows": result.rows,
            "rejected": result.rejected,
            "ranges": result.ranges,
            "digest": result.digest,
        }
        self._db.execute(update(publications).where(_PUB.generation_id == into).values(values))
        for at, end in result.end.items():
            mine = (_PART.generation_id == into, _PART.topic == at.topic)
            part = update(generation_partitions).where(*mine, _PART.partition == at.partition)
            self._db.execute(part.values(end_offset=end))
        self._delete_ranges(into, others)

    def _fold_files(self, into: str, others: Sequence[str]) -> None:
        theirs = _SEG.generation_id.in_(others)
        self._db.execute(update(segments).where(theirs).values(generation_id=into))
        for of_tables in self._dropped(_DROPPED.generation_id.in_(others)).values():
            for data_source, files in of_tables.items():
                self._put_dropped(into, data_source, files)
        self._db.execute(delete(dropped_files).where(_DROPPED.generation_id.in_(others)))

    def _fold_rejects(self, fold: Fold) -> None:
        into, others = fold.into.generation_id, [each.generation_id for each in fold.others]
        theirs = update(folded_rejects).where(_REJECTS.generation_id.in_(others))
        self._db.execute(theirs.values(generation_id=into))
        rows = [
            {
                "path": each.rejects.path,
                "generation_id": into,
                "file": each.rejects.model_dump(mode="json"),
            }
            for each in fold.others
            if each.rejects is not None
        ]
        if rows:
            self._db.execute(insert(folded_rejects), rows)

    def _fold_shares(self, into: Publication, others: Sequence[str]) -> None:
        """Give the shares of folded ranges in compacted files to the range that stands for them."""
        renamed = dict.fromkeys(others, into.generation_id)
        tables = into.data_source, errors_table(into.data_source)
        query = select(compactions.c.id, compactions.c.shares).where(
            compactions.c.data_source.in_(tables),
            compactions.c.supervisor_id == into.supervisor_id,
        )
        for compaction_id, documents in self._db.execute(query).all():
            if all(each["generation"] not in renamed for each in documents):
                continue
            shares = folded_shares([read_share(each) for each in documents], renamed)
            values = {"shares": [document_of_share(share) for share in shares]}
            mine = compactions.c.id == compaction_id
            self._db.execute(update(compactions).where(mine).values(values))

    def _delete_ranges(self, into: str, others: Sequence[str]) -> None:
        """Delete folded ranges; a task that a segment names goes over to the range that stays."""
        named = exists().where(_SEG.task_id == _TASK.id)
        theirs = _TASK.generation_id.in_(others)
        self._db.execute(delete(publications).where(_PUB.generation_id.in_(others)))
        self._db.execute(update(tasks).where(theirs, named).values(generation_id=into))
        self._db.execute(delete(tasks).where(theirs))
        parts = _PART.generation_id.in_(others)
        self._db.execute(delete(generation_partitions).where(parts))
        self._db.execute(delete(generations).where(_GEN.id.in_(others)))

    def folded(self, generation_ids: Sequence[str]) -> dict[str, Folded]:
        """Return generation -> what its publication stands for; see the port."""
        by_publication: dict[str, Folded] = {}
        for ids in chunks(generation_ids):
            rejects: dict[str, list[RejectsFile]] = {}
            of_ids = select(folded_rejects).where(_REJECTS.generation_id.in_(ids))
            for row in self._db.execute(of_ids.order_by(_REJECTS.path)):
                file = RejectsFile.model_validate(row.file)
                rejects.setdefault(row.generation_id, []).append(file)
            dropped = self._dropped(_DROPPED.generation_id.in_(ids))
            for each in sorted(rejects.keys() | dropped.keys()):
                files = tuple(rejects.get(each, ()))
                by_publication[each] = Folded(files, dropped.get(each, {}))
        return by_publication

    # -- what goes -------------------------------------------------------------------------------

    def due(self, supervisor_id: str, before: datetime) -> bool:
        """Return whether rows may go; see the port."""
        kept = self.oldest_kept(supervisor_id, before)
        mine = (_GEN.supervisor_id == supervisor_id, _GEN.ordinal < kept)
        published = exists().where(_PUB.generation_id == _GEN.id)
        newest = select(func.max(_GEN.ordinal)).where(_GEN.supervisor_id == supervisor_id)
        for query in (
            _old_segments(supervisor_id, before),
            _old_tasks(supervisor_id, before),
            select(_GEN.id).where(*mine, ~published, _GEN.ordinal < newest.scalar_subquery()),
        ):
            if self._db.execute(query.limit(1)).first() is not None:
                return True
        return False

    def oldest_kept(self, supervisor_id: str, before: datetime) -> int:
        """Return the lowest ordinal that is live or ended after a time; see the port."""
        mine = _GEN.supervisor_id == supervisor_id
        newer = _GEN.ended_at.is_(None) | (_GEN.ended_at >= before)
        # In the order of the index: what is older is little, once it was folded.
        lowest = select(_GEN.ordinal).where(mine, newer).order_by(_GEN.ordinal).limit(1)
        if (kept := self._db.execute(lowest).scalar_one_or_none()) is not None:
            return int(kept)
        newest = select(func.coalesce(func.max(_GEN.ordinal), 0)).where(mine)
        return int(self._db.execute(newest).scalar_one()) + 1

    def delete_tasks(self, supervisor_id: str, before: datetime, limit: int) -> int:
        """Delete ended tasks that nothing names; see the port."""
        ids = _old_tasks(supervisor_id, before).limit(limit)
        return self._deleted(delete(tasks).where(_TASK.id.in_(ids)))

    def delete_compactions(self, before: datetime, limit: int) -> int:
        """Delete ended compactions whose file is no segment any more; return how many."""
        ids = (
            select(compactions.c.id)
            .where(
                compactions.c.ended_at < before,
                compactions.c.folder_deleted_at.is_not(None),
                ~exists().where(_SEG.compaction_id == compactions.c.id),
            )
            .limit(limit)
        )
        return self._deleted(delete(compactions).where(compactions.c.id.in_(ids)))

    def event_cuts(self, limits: EventLimits) -> list[EventCut]:
        """Return which events are beyond a bound; see the port."""
        # In the order of the numbers: it ends at the first event that is young enough.
        young = select(_KEPT.number).where(_KEPT.at >= limits.before).order_by(_KEPT.number)
        oldest_kept = self._db.execute(young.limit(1)).scalar_one_or_none()
        newest = select(func.coalesce(func.max(_KEPT.number), 0))
        old = self._db.execute(newest).scalar_one() if oldest_kept is None else oldest_kept - 1
        up_to = max(old, self._beyond(limits.of_all))
        crowded = (
            select(_KEPT.supervisor_id)
            .group_by(_KEPT.supervisor_id)
            .having(func.count() > limits.of_each)
            .order_by(_KEPT.supervisor_id)
        )
        return [
            EventCut(up_to),
            *(
                EventCut(self._beyond(limits.of_each, each), each)
                for each in self._db.execute(crowded).scalars()
            ),
        ]

    def _beyond(self, kept: int, supervisor_id: str | None = None) -> int:
        """Return the number of the newest event that so many newer ones push out; 0: there is none.

        Without a supervisor: of all.
        """
        numbers = select(_KEPT.number).order_by(_KEPT.number.desc()).offset(kept).limit(1)
        if supervisor_id is not None:
            numbers = numbers.where(_KEPT.supervisor_id == supervisor_id)
        return self._db.execute(numbers).scalar_one_or_none() or 0

    def delete_events(self, cut: EventCut, limit: int) -> int:
        """Delete some events of a cut; see the port."""
        ids = select(_KEPT.number).where(_KEPT.number <= cut.up_to).order_by(_KEPT.number)
        if cut.supervisor_id is not None:
            ids = ids.where(_KEPT.supervisor_id == cut.supervisor_id)
        return self._deleted(delete(kept_happenings).where(_KEPT.number.in_(ids.limit(limit))))

    def delete_audit(self, before: datetime, limit: int, up_to: int | None = None) -> int:
        """Delete the oldest audit entries from before a time; return how many."""
        rows = select(audit.c.id, audit.c.at).order_by(audit.c.id).limit(limit)
        oldest = (rows if up_to is None else rows.where(audit.c.id <= up_to)).subquery()
        # In their order: the archive goes on where the table ends, whatever a clock says.
        young = select(func.min(oldest.c.id)).where(oldest.c.at >= before).scalar_subquery()
        ids = select(oldest.c.id).where(oldest.c.id < func.coalesce(young, 2**62))
        return self._deleted(delete(audit).where(audit.c.id.in_(ids)))

    def _deleted(self, statement: Delete) -> int:
        return self._db.execute(statement).rowcount


def _may_fold(*conditions: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for publications that may be folded."""
    unsettled = exists().where(
        _TASK.generation_id == _PUB.generation_id, _TASK.folder_deleted_at.is_(None)
    )
    return (_PUB.forgotten_at.is_(None), _PUB.diverged.is_(None), ~unsettled, *conditions)


def _old_segments(supervisor_id: str, before: datetime) -> Select[tuple[str]]:
    return select(_SEG.id).where(_SEG.supervisor_id == supervisor_id, _SEG.deleted_at < before)


def _old_tasks(supervisor_id: str, before: datetime) -> Select[tuple[str]]:
    """Return the query for ended tasks that nothing names."""
    newer = tasks.alias("newer").c
    replaced = exists().where(
        newer.generation_id == _TASK.generation_id,
        newer.replica == _TASK.replica,
        newer.attempt > _TASK.attempt,
    )
    return (
        select(_TASK.id)
        .join(generations, _GEN.id == _TASK.generation_id)
        .where(
            _TASK.supervisor_id == supervisor_id,
            _TASK.status.in_(_ENDED),
            _TASK.ended_at < before,
            _TASK.folder_deleted_at.is_not(None),
            ~exists().where(_PUB.task_id == _TASK.id),
            ~exists().where(_SEG.task_id == _TASK.id),
            _GEN.ended_at.is_not(None) | replaced,
        )
    )
