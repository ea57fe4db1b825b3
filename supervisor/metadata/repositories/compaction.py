"""The repository of compactions and compaction rules."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, RowMapping, Select, Update, delete, select, update

from supervisor.core.history.lifecycle_events import compaction_begun, compaction_ended
from supervisor.core.model.rows import TaskStatus
from supervisor.core.tables.compaction import Attempt, Compaction, CompactionRule, Share
from supervisor.core.values.intervals import Interval
from supervisor.metadata.schema.column_types import known, unknown
from supervisor.metadata.schema.compaction import compaction_rules, compactions
from supervisor.metadata.schema.rows import chunks, insert_unless_taken, take_turns
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched
from tasks.contract.ingest_spec import Column
from tasks.contract.messages import OffsetSpan

_AT = compactions.c
_RULE = compaction_rules.c
_LIVE = _AT.ended_at.is_(None)
_ALL = select(compactions)
_LIVE_INDEX = "INDEXED BY ix_compactions_live"
"""Hint for SQLite, which with statistics reads all compactions that ever were."""
_ALL_LIVE = _ALL.where(_LIVE).with_hint(compactions, _LIVE_INDEX, "sqlite")
_WAITING = (
    select(_AT.id)
    .where(_LIVE, _AT.worker_id == "")
    .order_by(_AT.number)
    .with_hint(compactions, _LIVE_INDEX, "sqlite")
)
_ATTEMPTS = select(_AT.inputs, _AT.ended_at, _AT.blamed)


class SqlCompactions:
    """See `ports.tables.compaction.Compactions`."""

    def __init__(self, connection: Connection, record: RecordEvent, touched: Touched) -> None:
        self._record = record
        self._touched = touched
        self._db = connection

    def add(self, compaction: Compaction) -> bool:
        """Insert a compaction; False, changing nothing, if its id exists."""
        self._touched.workers.add(compaction.worker_id)
        return insert_unless_taken(self._db, (compactions, [_row(compaction)]))

    def get(self, compaction_id: str) -> Compaction | None:
        """Return one compaction."""
        return self.rows_of([compaction_id]).get(compaction_id)

    def rows_of(self, ids: Sequence[str]) -> dict[str, Compaction]:
        """Return id -> compaction, for the ids that exist."""
        found = (row for some in chunks(ids) for row in self._read(_ALL.where(_AT.id.in_(some))))
        return {row.id: row for row in found}

    def live(self, *, worker_id: str | None = None, assigned: bool = False) -> list[Compaction]:
        """Return compactions that wait or run, oldest first; see the port."""
        mine = [] if worker_id is None else [_AT.worker_id == worker_id]
        mine += [_AT.worker_id != ""] if assigned else []
        return self._read(_ALL_LIVE.where(*mine).order_by(_AT.number))

    def waiting(self) -> list[str]:
        """Return the ids of the compactions that wait for a worker, oldest first."""
        return list(self._db.execute(_WAITING).scalars())

    def live_attempts(self, data_source: str, *, alone: bool = False) -> list[Attempt]:
        """Return the compactions of one table that wait or run; see the port."""
        if alone:
            take_turns(self._db, f"compactions of {data_source}")
        return self._attempts(_ATTEMPTS.where(_AT.data_source == data_source, _LIVE))

    def recent_attempts(self, data_source: str, limit: int) -> list[Attempt]:
        """Return compactions of one table, newest first."""
        mine = _ATTEMPTS.where(_AT.data_source == data_source)
        return self._attempts(mine.order_by(_AT.number.desc()).limit(limit))

    def unsettled(self) -> list[Compaction]:
        """Return compactions whose folder may hold files that nothing names; see the port."""
        return self._read(_ALL.where(_AT.folder_deleted_at.is_(None)).order_by(_AT.number))

    def recent(self, data_source: str | None, limit: int) -> list[Compaction]:
        """Return compactions of one table or of all, newest first."""
        mine = [] if data_source is None else [_AT.data_source == data_source]
        return self._read(_ALL.where(*mine).order_by(_AT.number.desc()).limit(limit))

    def page(
        self, limit: int, *, before: int | None = None, data_source: str | None = None
    ) -> list[tuple[int, Compaction]]:
        """Return (number, compaction), newest first; with `before` only lower numbers."""
        conditions = [] if data_source is None else [_AT.data_source == data_source]
        conditions += [] if before is None else [_AT.number < before]
        query = _ALL.where(*conditions).order_by(_AT.number.desc()).limit(limit)
        rows = self._db.execute(query).mappings()
        return [(row["number"], _compaction(row)) for row in rows]

    def assign(
        self, compaction_id: str, worker_id: str, incarnation: int, token: str, now: datetime
    ) -> bool:
        """Assign a waiting compaction to a worker; False, changing nothing: it does not wait."""
        waiting = (_AT.id == compaction_id, _LIVE, _AT.worker_id == "")
        assigned = {
            "worker_id": worker_id,
            "incarnation": incarnation,
            "token": token,
            "assigned_at": now,
        }
        begun = self._changed(update(compactions).where(*waiting).values(assigned))
        if begun is not None:
            self._record(compaction_begun(begun, now))
        return begun is not None

    def end(
        self,
        compaction_id: str,
        status: TaskStatus,
        detail: str,
        now: datetime,
        *,
        blamed: bool = False,
    ) -> bool:
        """End a live compaction; False, changing nothing: it is not live."""
        ended = {"status": status, "detail": detail, "ended_at": now, "blamed": blamed}
        live = update(compactions).where(_AT.id == compaction_id, _LIVE)
        done = self._changed(live.values(ended))
        if done is not None:
            self._record(compaction_ended(done, now))
        return done is not None

    def folder_deleted(self, compaction_id: str, now: datetime) -> None:
        """Record that the folder of an ended compaction holds no unnamed file any more."""
        ended = update(compactions).where(_AT.id == compaction_id, _AT.ended_at.is_not(None))
        self._db.execute(ended.values(folder_deleted_at=now))

    def put_rule(self, rule: CompactionRule) -> None:
        """Set the rule of a table; it replaces the rule before."""
        row = {
            "data_source": rule.data_source,
            "skip_seconds": int(rule.skip_offset_from_latest.total_seconds()),
            "target_rows": rule.target_rows,
            "target_bytes": rule.target_bytes,
            "files_min": rule.files_min,
            "author": rule.author,
            "set_at": rule.set_at,
        }
        if not insert_unless_taken(self._db, (compaction_rules, [row])):
            mine = _RULE.data_source == rule.data_source
            self._db.execute(update(compaction_rules).where(mine).values(row))

    def drop_rule(self, data_source: str) -> bool:
        """Delete the rule of a table; False: there was none."""
        dropped = delete(compaction_rules).where(_RULE.data_source == data_source)
        return self._db.execute(dropped).rowcount > 0

    def rule(self, data_source: str) -> CompactionRule | None:
        """Return the rule of a table."""
        return next((rule for rule in self.rules() if rule.data_source == data_source), None)

    def rules(self) -> list[CompactionRule]:
        """Return every rule, by table."""
        rows = self._db.execute(select(compaction_rules).order_by(_RULE.data_source)).mappings()
        return [_rule(row) for row in rows]

    def _changed(self, statement: Update) -> Compaction | None:
        row = self._db.execute(statement.returning(compactions)).mappings().one_or_none()
        if row is None:
            return None
        changed = _compaction(row)
        self._touched.workers.add(changed.worker_id)
        return changed

    def _attempts(self, query: Select[*tuple[object, ...]]) -> list[Attempt]:
        rows = self._db.execute(query)
        return [Attempt(tuple(row.inputs), row.ended_at, row.blamed) for row in rows]

    def _read(self, query: Select[tuple[object, ...]]) -> list[Compaction]:
        return [_compaction(row) for row in self._db.execute(query).mappings()]


def _row(compaction: Compaction) -> dict[str, object]:
    return {
        "id": compaction.id,
        "data_source": compaction.data_source,
        "supervisor_id": compaction.supervisor_id,
        "interval_start": compaction.interval.start,
        "interval_end": compaction.interval.end,
        "inputs": list(compaction.inputs),
        "columns": [{"name": each.name, "type": each.type} for each in compaction.columns],
        "shares": [document_of_share(share) for share in compaction.shares],
        "reason": compaction.reason,
        "created_at": compaction.created_at,
        "status": compaction.status,
        "worker_id": compaction.worker_id,
        "incarnation": compaction.incarnation,
        "token": compaction.token,
        "assigned_at": compaction.assigned_at,
        "ended_at": compaction.ended_at,
        "detail": compaction.detail,
        "blamed": compaction.blamed,
        "folder_deleted_at": compaction.folder_deleted_at,
    }


def document_of_share(share: Share) -> dict[str, object]:
    """Return a share as the JSON of its compaction's row."""
    spans = [span.model_dump(mode="json") for span in share.spans]
    return {"generation": share.generation_id, "rows": share.rows, "spans": spans}


def read_share(document: Mapping[str, object]) -> Share:
    """Return the share of a JSON document."""
    spans = document["spans"]
    assert isinstance(spans, list)
    rows = document["rows"]
    assert isinstance(rows, int)
    return Share(
        str(document["generation"]), rows, tuple(OffsetSpan.model_validate(s) for s in spans)
    )


def _compaction(row: RowMapping) -> Compaction:
    status = known(TaskStatus, row["status"])
    return Compaction(
        id=row["id"],
        data_source=row["data_source"],
        supervisor_id=row["supervisor_id"],
        interval=Interval(row["interval_start"], row["interval_end"]),
        inputs=tuple(row["inputs"]),
        columns=tuple(Column.model_validate(each) for each in row["columns"]),
        shares=tuple(read_share(each) for each in row["shares"]),
        reason=row["reason"],
        created_at=row["created_at"],
        status=status or TaskStatus.UNKNOWN,
        worker_id=row["worker_id"],
        incarnation=row["incarnation"],
        token=row["token"],
        assigned_at=row["assigned_at"],
        ended_at=row["ended_at"],
        detail=row["detail"] if status else unknown(TaskStatus, row["status"]),
        blamed=row["blamed"],
        folder_deleted_at=row["folder_deleted_at"],
    )


def _rule(row: RowMapping) -> CompactionRule:
    return CompactionRule(
        data_source=row["data_source"],
        skip_offset_from_latest=timedelta(seconds=row["skip_seconds"]),
        target_rows=row["target_rows"],
        target_bytes=row["target_bytes"],
        files_min=row["files_min"],
        author=row["author"],
        set_at=row["set_at"],
    )
