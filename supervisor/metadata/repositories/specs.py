"""The append-only repository of spec versions: the newest counts, a tombstone ends a supervisor.

version  document  same_as  suspended        1 and 2 are read from one stored document: whoever
1        {...}                               may suspend adds no copy of it each time
2                  1        true
3                                            a tombstone

newest version: awake ─► at rest, once all that it names is read ─► awake, after a reset
"""

import importlib.metadata
import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    RowMapping,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)

from supervisor.core.history.lifecycle_events import spec_event
from supervisor.core.model.rows import (
    PresentVersion,
    SpecHead,
    SpecVersion,
    TerminatedSupervisor,
)
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import FieldError, MetadataBusy, SpecUnreadable, StateMoved
from supervisor.core.values.permissions import reason_of
from supervisor.core.values.spec_facts import SpecFacts
from supervisor.metadata.parsed_specs import ParsedSpecs, Unparsed
from supervisor.metadata.schema.rows import AT_ONCE, insert_unless_taken
from supervisor.metadata.schema.tables import PRESENT, supervisor_specs
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched

RELEASE = importlib.metadata.version("tidegate")
"""Stored with each version: a release that cannot read the spec can name a release that can."""
_AT = supervisor_specs.c
_TRIES = 5
_OF_SUPERVISOR = _AT.supervisor_id == bindparam("of_supervisor")
# Built once: these queries run in each pass.
_WHOLE = supervisor_specs.alias("whole")
"""The version whose document a version has."""
_NUMBERS = supervisor_specs.alias("numbers")
_DOCUMENTS = supervisor_specs.outerjoin(
    _WHOLE,
    and_(_WHOLE.c.supervisor_id == _AT.supervisor_id, _WHOLE.c.version == _AT.same_as),
)
_DOCUMENT = func.coalesce(_AT.spec, _WHOLE.c.spec)
_HAS_SPEC = or_(_AT.spec.is_not(None), _AT.same_as.is_not(None))
_READ = select(
    _AT.supervisor_id,
    _AT.version,
    _AT.created_at,
    _AT.author,
    _AT.release,
    _AT.reason,
    _AT.same_as,
    _AT.suspended,
    cast(_DOCUMENT, Text).label("text"),
).select_from(_DOCUMENTS)
_HISTORY = _READ.where(_OF_SUPERVISOR).order_by(_AT.version.desc())
_NEWEST = _HISTORY.limit(1)
_BEFORE = (
    select(
        _AT.version,
        _AT.same_as,
        _AT.submitted,
        _HAS_SPEC.label("has_spec"),
        _AT.suspended,
        _AT.spec["suspended"].label("suspended_by_document"),
    )
    .where(_OF_SUPERVISOR)
    .order_by(_AT.version.desc())
    .limit(1)
)
_ONE = and_(_OF_SUPERVISOR, _AT.version == bindparam("number"))
_VERSION = _READ.where(_ONE)
_OWN_TEXT = select(cast(_AT.spec, Text)).where(_ONE)
_NUMBER = tuple_(_AT.supervisor_id, _AT.version)
_VERSIONS = _READ.where(_NUMBER.in_(bindparam("wanted", expanding=True)))
_NEWEST_NUMBERS = select(_NUMBERS.c.supervisor_id, func.max(_NUMBERS.c.version)).group_by(
    _NUMBERS.c.supervisor_id
)
_IS_NEWEST = _NUMBER.in_(_NEWEST_NUMBERS)
_ALL_NEWEST = _READ.where(_IS_NEWEST).order_by(_AT.supervisor_id)
_IS_AWAKE = _AT.awake.is_not(None)
_ALL_AWAKE = _READ.where(_IS_AWAKE).order_by(_AT.supervisor_id)
_HEAD = select(_AT.supervisor_id, _AT.version, (~_HAS_SPEC).label("terminated"))
_HEADS = _HEAD.where(_IS_NEWEST).order_by(_AT.supervisor_id)
_AWAKE = _HEAD.where(_IS_AWAKE).order_by(_AT.supervisor_id)
_PRESENT = select(PRESENT)
"""In no order: SQLite would read all versions in theirs, to sort no rows."""
_AT_REST = _HEAD.where(_AT.rests_since.is_not(None))
_RESTING = _AT_REST.where(_AT.rests_since >= bindparam("since")).order_by(_AT.supervisor_id)
_ENDED_TASKS = (
    _AT_REST.where(_AT.rests_since <= bindparam("until"), _AT.submitted.is_not(None))
    .order_by(_AT.rests_since, _AT.supervisor_id)
    .limit(bindparam("most"))
)
_LOCKED_TASKS = _ENDED_TASKS.with_for_update()
_TABLE = _DOCUMENT["dataSchema", "dataSource"].label("data_source")
"""The name at the place where specs of every release have it (`spec_facts`)."""
_TABLES = select(_AT.supervisor_id, _TABLE).select_from(_DOCUMENTS).where(_IS_NEWEST, _HAS_SPEC)
_END = supervisor_specs.alias("tombstone").c
_ENDED = and_(_END.supervisor_id == _AT.supervisor_id, _END.version == _AT.version + 1)
_TERMINATED = (
    select(_AT.supervisor_id, _AT.version, _TABLE, _END.created_at, _END.author, _END.reason)
    .select_from(_DOCUMENTS.join(_END.supervisor_id.table, _ENDED))
    .where(_HAS_SPEC, _END.spec.is_(None), _END.same_as.is_(None))
    .where(tuple_(_END.supervisor_id, _END.version).in_(_NEWEST_NUMBERS))
)
_TABLES_OF = (
    select(_TABLE)
    .select_from(_DOCUMENTS)
    .where(_OF_SUPERVISOR, _HAS_SPEC)
    .order_by(_AT.version.desc())
)
_FIRST_AT = select(_AT.created_at).where(_OF_SUPERVISOR).order_by(_AT.version).limit(1)
TABLES_EVER = (
    select(_AT.supervisor_id, _TABLE)
    .select_from(_DOCUMENTS)
    .where(_AT.supervisor_id.in_(bindparam("ids", expanding=True)), _HAS_SPEC)
)
_FALL_ASLEEP = (
    update(supervisor_specs).where(_ONE, _IS_AWAKE).values(awake=None, rests_since=bindparam("now"))
)
_AWAKEN = (
    update(supervisor_specs)
    .where(_OF_SUPERVISOR, _AT.rests_since.is_not(None))
    .values(awake=True, rests_since=None)
)
_FOLLOWED = update(supervisor_specs).where(_ONE).values(awake=None, rests_since=None)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class SqlSpecs:
    """See `ports.store.Specs`.

    A query for one stored spec that this release cannot read raises `SpecUnreadable`.  A query for
    all specs still returns the others.
    """

    def __init__(
        self, connection: Connection, record: RecordEvent, parsed: ParsedSpecs, touched: Touched
    ) -> None:
        self._db = connection
        self._record = record
        self._touched = touched
        self._parsed = parsed

    def append(
        self,
        supervisor_id: str,
        spec: SupervisorSpec | None,
        now: datetime,
        author: str,
        *,
        after: int | None = None,
        submitted: bool = False,
    ) -> SpecVersion:
        """Add the next version (None: a tombstone) and return it.

        Raises:
            StateMoved: the newest version is not `after` (0: there is none); nothing is added.
            MetadataBusy: others kept adding versions at the same time.
        """
        for _ in range(_TRIES):
            before = self._db.execute(_BEFORE, {"of_supervisor": supervisor_id}).one_or_none()
            newest = 0 if before is None else before.version
            if after not in {None, newest}:
                raise StateMoved(f"{supervisor_id} has version {newest}, not {after}")
            live = before if before is not None and before.has_spec else None
            row = {
                "supervisor_id": supervisor_id,
                "version": newest + 1,
                "created_at": now,
                "author": author,
                "release": RELEASE,
                "reason": reason_of(author),
                "submitted": submitted or (live is not None and live.submitted) or None,
                "awake": None if spec is None else True,
                **self._document(supervisor_id, spec, live),
            }
            if insert_unless_taken(self._db, (supervisor_specs, [row])):
                self._db.execute(_FOLLOWED, {"of_supervisor": supervisor_id, "number": newest})
                stored = SpecVersion(
                    supervisor_id, newest + 1, now, spec, author, RELEASE, reason_of(author)
                )
                was_suspended = live is not None and _is_suspended(live)
                event = spec_event(stored, before=live is not None, was_suspended=was_suspended)
                self._touched.supervisors.add(supervisor_id)
                self._record(event)
                return stored
        raise MetadataBusy(f"others keep storing versions of {supervisor_id}")

    def _document(
        self, supervisor_id: str, spec: SupervisorSpec | None, before: Row[Any] | None
    ) -> dict[str, object]:
        """Return the columns of a document; a reference, if only `suspended` has changed in it."""
        own: dict[str, object] = {"spec": None, "same_as": None, "suspended": None}
        if spec is None:
            return own
        document = spec.model_dump(mode="json")
        if before is not None:
            number = before.version if before.same_as is None else before.same_as
            where = {"of_supervisor": supervisor_id, "number": number}
            text = self._db.execute(_OWN_TEXT, where).scalar_one_or_none()
            if text is not None and _differ_by_suspended(json.loads(text), document):
                return own | {"same_as": number, "suspended": spec.suspended}
        return own | {"spec": document}

    def newest(self, supervisor_id: str) -> SpecVersion | None:
        """Return the newest version, tombstones included; None if the id was never used."""
        return next(iter(self._select(_NEWEST, of_supervisor=supervisor_id)), None)

    def newest_stored(self, supervisor_id: str) -> SpecVersion | SpecUnreadable | None:
        """Return as `newest`, but an unreadable version as its reason."""
        rows = self._db.execute(_NEWEST, {"of_supervisor": supervisor_id}).mappings()
        return next((self._read_or_not(row) for row in rows), None)

    def version(self, supervisor_id: str, version: int) -> SpecVersion | None:
        """Return one version."""
        one = self._select(_VERSION, of_supervisor=supervisor_id, number=version)
        return next(iter(one), None)

    def versions(
        self, numbers: Collection[tuple[str, int]]
    ) -> dict[tuple[str, int], SpecVersion | SpecUnreadable]:
        """Return (id, version) -> the version, for those that exist; see the port."""
        wanted, versions = sorted(set(numbers)), list[SpecVersion | SpecUnreadable]()
        for first in range(0, len(wanted), AT_ONCE):
            some = {"wanted": wanted[first : first + AT_ONCE]}
            rows = self._db.execute(_VERSIONS, some).mappings()
            versions += [self._read_or_not(row) for row in rows]
        return {(each.supervisor_id, each.version): each for each in versions}

    def all_newest(self) -> list[SpecVersion]:
        """Return the newest version of every id, by id, tombstones too; skip unreadable specs."""
        return [each for each in self.newest_or_unreadable() if isinstance(each, SpecVersion)]

    def newest_or_unreadable(self, *, awake: bool = False) -> list[SpecVersion | SpecUnreadable]:
        """Return as `all_newest`, but each unreadable version as its reason; see the port."""
        query = _ALL_AWAKE if awake else _ALL_NEWEST
        return [self._read_or_not(row) for row in self._db.execute(query).mappings()]

    def heads(self) -> list[SpecHead]:
        """Return the number of the newest version of every id, by id, without reading its spec."""
        return self._heads(_HEADS)

    def present(self) -> list[PresentVersion]:
        """Return the newest versions of all supervisors that are not terminated; see the port."""
        rows = sorted(self._db.execute(_PRESENT), key=itemgetter(0))
        return [
            PresentVersion(each, version, created_at, author, rests=rests_since is not None)
            for each, version, created_at, author, rests_since in rows
        ]

    def terminated(self) -> list[TerminatedSupervisor]:
        """Return how each terminated supervisor ended, in no order; see the port."""
        return [
            TerminatedSupervisor(supervisor_id, version, _text(table), at, author, reason)
            for supervisor_id, version, table, at, author, reason in self._db.execute(_TERMINATED)
        ]

    def awake(self) -> list[SpecHead]:
        """Return the heads of supervisors that are neither terminated nor at rest, by id."""
        return self._heads(_AWAKE)

    def at_rest(self, since: datetime | None = None) -> list[SpecHead]:
        """Return the heads of supervisors that are at rest since that time or later, by id."""
        return self._heads(_RESTING, since=since or _LONG_AGO)

    def ended_tasks(self, until: datetime, limit: int, *, lock: bool = False) -> list[SpecHead]:
        """Return the heads of submitted tasks at rest since `until` or earlier; see the port."""
        query = _LOCKED_TASKS if lock else _ENDED_TASKS
        return self._heads(query, until=until, most=limit)

    def rest(self, supervisor_id: str, version: int, now: datetime) -> bool:
        """Put a supervisor to rest; False: its newest version is another one, or is at rest."""
        where = {"of_supervisor": supervisor_id, "number": version, "now": now}
        return self._db.execute(_FALL_ASLEEP, where).rowcount == 1

    def awaken(self, supervisor_id: str) -> None:
        """End the rest of a supervisor, if it is at rest."""
        self._db.execute(_AWAKEN, {"of_supervisor": supervisor_id})

    def tables(self) -> dict[str, str | None]:
        """Return supervisor -> the table of its newest spec; see the port."""
        return {row.supervisor_id: _text(row.data_source) for row in self._db.execute(_TABLES)}

    def tables_of(self, supervisor_id: str, limit: int | None = None) -> list[str | None]:
        """Return the table of each version that has a spec, newest first; see the port."""
        rows = self._db.execute(_TABLES_OF.limit(limit), {"of_supervisor": supervisor_id})
        return [_text(row.data_source) for row in rows]

    def tables_ever(self, supervisor_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return supervisor -> every known table that a version has named; see the port."""
        known: dict[str, set[str]] = {}
        for row in self._db.execute(TABLES_EVER, {"ids": sorted(supervisor_ids)}):
            table = _text(row.data_source)
            known.setdefault(row.supervisor_id, set()).update([] if table is None else [table])
        return {supervisor_id: frozenset(tables) for supervisor_id, tables in known.items()}

    def first_at(self, supervisor_id: str) -> datetime | None:
        """Return when the oldest version was stored; see the port."""
        return self._db.execute(_FIRST_AT, {"of_supervisor": supervisor_id}).scalar_one_or_none()

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first."""
        return self._select(_HISTORY.limit(limit), of_supervisor=supervisor_id)

    def forget(self, supervisor_id: str, up_to: int) -> None:
        """Delete versions up to `up_to`; a newer version, stored meanwhile, stays."""
        self._touched.supervisors.add(supervisor_id)
        mine = _AT.supervisor_id == supervisor_id
        document = (
            select(_WHOLE.c.spec)
            .where(_WHOLE.c.supervisor_id == supervisor_id, _WHOLE.c.version == _AT.same_as)
            .scalar_subquery()
        )
        stays = update(supervisor_specs).where(mine, _AT.version > up_to, _AT.same_as <= up_to)
        self._db.execute(stays.values(spec=document, same_as=None))
        self._db.execute(delete(supervisor_specs).where(mine, _AT.version <= up_to))

    def _heads(self, query: Select[*tuple[object, ...]], **values: object) -> list[SpecHead]:
        return [
            SpecHead(row.supervisor_id, row.version, bool(row.terminated))
            for row in self._db.execute(query, values)
        ]

    def _select(self, query: Select[*tuple[object, ...]], **values: object) -> list[SpecVersion]:
        return [self._read(row) for row in self._db.execute(query, values).mappings()]

    def _read(self, row: RowMapping) -> SpecVersion:
        version = self._read_or_not(row)
        if isinstance(version, SpecUnreadable):
            raise version
        return version

    def _read_or_not(self, row: RowMapping) -> SpecVersion | SpecUnreadable:
        spec = self._spec(row)
        if isinstance(spec, Unparsed):
            return SpecUnreadable(
                row["supervisor_id"],
                row["version"],
                row["release"],
                spec.errors,
                created_at=row["created_at"],
                facts=spec.facts,
            )
        return SpecVersion(
            row["supervisor_id"],
            row["version"],
            row["created_at"],
            spec,
            row["author"],
            row["release"],
            row["reason"],
        )

    def _spec(self, row: RowMapping) -> SupervisorSpec | Unparsed | None:
        if row["text"] is not None:
            return self._parsed.parse(row["text"], row["suspended"])
        if row["same_as"] is None:
            return None
        missing = FieldError("", f"it has the document of version {row['same_as']}, which is gone")
        return Unparsed((missing,), SpecFacts())


def _is_suspended(before: Row[Any]) -> bool:
    return bool(before.suspended_by_document if before.suspended is None else before.suspended)


def _differ_by_suspended(stored: object, document: Mapping[str, object]) -> bool:
    """Return whether two documents differ by `suspended` at most, as texts: 1 is not 1.0."""
    if not isinstance(stored, dict) or "suspended" not in stored:
        return False
    same = {"suspended": None}
    return json.dumps({**stored, **same}) == json.dumps({**document, **same})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
