"""The append-only repository of spec versions: the newest counts, a tombstone ends a supervisor."""

import importlib.metadata
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import (
    Connection,
    RowMapping,
    Select,
    Text,
    bindparam,
    cast,
    delete,
    func,
    select,
    tuple_,
)

from supervisor.core.history.lifecycle_events import spec_event
from supervisor.core.model.rows import SpecHead, SpecVersion
from supervisor.core.spec.spec import SupervisorSpec
from supervisor.core.values.errors import MetadataBusy, SpecUnreadable, StateMoved
from supervisor.metadata.parsed_specs import ParsedSpecs, Unparsed
from supervisor.metadata.schema.rows import AT_ONCE, insert_unless_taken
from supervisor.metadata.schema.tables import supervisor_specs
from supervisor.ports.lifecycle import RecordEvent
from supervisor.ports.touched import Touched

RELEASE = importlib.metadata.version("tidegate")
"""Stored with each version: a release that cannot read the spec can name a release that can."""
_AT = supervisor_specs.c
_TRIES = 5
_OF_SUPERVISOR = _AT.supervisor_id == bindparam("of_supervisor")
# Built once: these queries run in each pass.
_READ = select(
    _AT.supervisor_id,
    _AT.version,
    _AT.created_at,
    _AT.author,
    _AT.release,
    cast(_AT.spec, Text).label("text"),
)
_HISTORY = _READ.where(_OF_SUPERVISOR).order_by(_AT.version.desc())
_NEWEST = _HISTORY.limit(1)
_BEFORE = (
    select(
        _AT.version,
        _AT.spec.is_not(None).label("has_spec"),
        _AT.spec["suspended"].label("suspended"),
    )
    .where(_OF_SUPERVISOR)
    .order_by(_AT.version.desc())
    .limit(1)
)
_VERSION = _READ.where(_OF_SUPERVISOR, _AT.version == bindparam("number"))
_NUMBER = tuple_(_AT.supervisor_id, _AT.version)
_VERSIONS = _READ.where(_NUMBER.in_(bindparam("wanted", expanding=True)))
_IS_NEWEST = _NUMBER.in_(
    select(_AT.supervisor_id, func.max(_AT.version)).group_by(_AT.supervisor_id)
)
_ALL_NEWEST = _READ.where(_IS_NEWEST).order_by(_AT.supervisor_id)
_HEADS = (
    select(_AT.supervisor_id, _AT.version, _AT.spec.is_(None).label("terminated"))
    .where(_IS_NEWEST)
    .order_by(_AT.supervisor_id)
)
_TABLE = _AT.spec["dataSchema", "dataSource"].label("data_source")
"""The name at the place where specs of every release have it (`spec_facts`)."""
_TABLES = select(_AT.supervisor_id, _TABLE).where(_IS_NEWEST, _AT.spec.is_not(None))
_TABLES_OF = (
    select(_TABLE).where(_OF_SUPERVISOR, _AT.spec.is_not(None)).order_by(_AT.version.desc())
)


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
            version = newest + 1
            row = {
                "supervisor_id": supervisor_id,
                "version": version,
                "created_at": now,
                "author": author,
                "spec": None if spec is None else spec.model_dump(mode="json"),
                "release": RELEASE,
            }
            if insert_unless_taken(self._db, (supervisor_specs, [row])):
                stored = SpecVersion(supervisor_id, version, now, spec, author, RELEASE)
                event = spec_event(
                    stored,
                    before=before is not None and before.has_spec,
                    was_suspended=before is not None and bool(before.suspended),
                )
                self._touched.supervisors.add(supervisor_id)
                self._record(event)
                return stored
        raise MetadataBusy(f"others keep storing versions of {supervisor_id}")

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

    def newest_or_unreadable(self) -> list[SpecVersion | SpecUnreadable]:
        """Return as `all_newest`, but each unreadable version as its reason."""
        return [self._read_or_not(row) for row in self._db.execute(_ALL_NEWEST).mappings()]

    def heads(self) -> list[SpecHead]:
        """Return the number of the newest version of every id, by id, without reading its spec."""
        return [
            SpecHead(row.supervisor_id, row.version, bool(row.terminated))
            for row in self._db.execute(_HEADS)
        ]

    def tables(self) -> dict[str, str | None]:
        """Return supervisor -> the table of its newest spec; see the port."""
        return {row.supervisor_id: _text(row.data_source) for row in self._db.execute(_TABLES)}

    def tables_of(self, supervisor_id: str, limit: int | None = None) -> list[str | None]:
        """Return the table of each version that has a spec, newest first; see the port."""
        rows = self._db.execute(_TABLES_OF.limit(limit), {"of_supervisor": supervisor_id})
        return [_text(row.data_source) for row in rows]

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first."""
        return self._select(_HISTORY.limit(limit), of_supervisor=supervisor_id)

    def forget(self, supervisor_id: str, up_to: int) -> None:
        """Delete versions up to `up_to`; a newer version, stored meanwhile, stays."""
        self._touched.supervisors.add(supervisor_id)
        self._db.execute(
            delete(supervisor_specs).where(_AT.supervisor_id == supervisor_id, _AT.version <= up_to)
        )

    def _select(self, query: Select[*tuple[object, ...]], **values: object) -> list[SpecVersion]:
        return [self._read(row) for row in self._db.execute(query, values).mappings()]

    def _read(self, row: RowMapping) -> SpecVersion:
        version = self._read_or_not(row)
        if isinstance(version, SpecUnreadable):
            raise version
        return version

    def _read_or_not(self, row: RowMapping) -> SpecVersion | SpecUnreadable:
        spec = None if row["text"] is None else self._parsed.parse(row["text"])
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
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
