"""Append-only spec versions: the newest counts, a tombstone ends a supervisor."""

from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import Connection, RowMapping, Select, bindparam, delete, func, select, tuple_

from supervisor.core.errors import FieldError, InvalidSpec, MetadataBusy, StateMoved
from supervisor.core.happenings import spec_told
from supervisor.core.model import SpecVersion
from supervisor.core.spec import SupervisorSpec
from supervisor.metadata.rows import insert_unless_taken
from supervisor.metadata.tables import supervisor_specs
from supervisor.ports_happenings import Tell

_AT = supervisor_specs.c
_TRIES = 5
_OF_SUPERVISOR = _AT.supervisor_id == bindparam("of_supervisor")
# Built once: these are asked in each pass.
_HISTORY = select(supervisor_specs).where(_OF_SUPERVISOR).order_by(_AT.version.desc())
_NEWEST = _HISTORY.limit(1)
_VERSION = select(supervisor_specs).where(_OF_SUPERVISOR, _AT.version == bindparam("number"))
_ALL_NEWEST = (
    select(supervisor_specs)
    .where(
        tuple_(_AT.supervisor_id, _AT.version).in_(
            select(_AT.supervisor_id, func.max(_AT.version)).group_by(_AT.supervisor_id)
        )
    )
    .order_by(_AT.supervisor_id)
)


class SqlSpecs:
    """See `ports.Specs`.

    A stored spec that this version cannot read is `InvalidSpec` where it is asked for by id; where
    all are asked for it is left out, so that the others go on.
    """

    def __init__(self, connection: Connection, tell: Tell) -> None:
        self._db = connection
        self._tell = tell

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
            before = self._db.execute(_NEWEST, {"of_supervisor": supervisor_id}).one_or_none()
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
            }
            if insert_unless_taken(self._db, (supervisor_specs, [row])):
                stored = SpecVersion(supervisor_id, version, now, spec, author)
                was = None if before is None else before.spec
                told = spec_told(
                    stored,
                    before=was is not None,
                    was_suspended=was is not None and bool(was.get("suspended")),
                )
                self._tell(told)
                return stored
        raise MetadataBusy(f"others keep storing versions of {supervisor_id}")

    def newest(self, supervisor_id: str) -> SpecVersion | None:
        """Return the newest version, tombstones included; None if the id was never used."""
        return next(iter(self._found(_NEWEST, of_supervisor=supervisor_id)), None)

    def version(self, supervisor_id: str, version: int) -> SpecVersion | None:
        """Return one version."""
        one = self._found(_VERSION, of_supervisor=supervisor_id, number=version)
        return next(iter(one), None)

    def all_newest(self) -> list[SpecVersion]:
        """Return the newest version of every id, tombstones included, by id."""
        found = []
        for row in self._db.execute(_ALL_NEWEST).mappings():
            try:
                found.append(_read(row))
            except InvalidSpec:
                continue  # asked for by its id, it says what is wrong with it
        return found

    def history(self, supervisor_id: str, limit: int | None = None) -> list[SpecVersion]:
        """Return the versions of one id, newest first."""
        return self._found(_HISTORY.limit(limit), of_supervisor=supervisor_id)

    def forget(self, supervisor_id: str, up_to: int) -> None:
        """Delete versions up to `up_to`; a newer one, stored meanwhile, stays."""
        self._db.execute(
            delete(supervisor_specs).where(_AT.supervisor_id == supervisor_id, _AT.version <= up_to)
        )

    def _found(self, query: Select[*tuple[object, ...]], **values: object) -> list[SpecVersion]:
        return [_read(row) for row in self._db.execute(query, values).mappings()]


def _read(row: RowMapping) -> SpecVersion:
    return SpecVersion(
        row["supervisor_id"], row["version"], row["created_at"], _spec_of(row), row["author"]
    )


def _spec_of(row: RowMapping) -> SupervisorSpec | None:
    if row["spec"] is None:
        return None
    try:
        return SupervisorSpec.model_validate(row["spec"])
    except ValidationError as error:
        which = f"stored spec of {row['supervisor_id']}, version {row['version']}"
        raise InvalidSpec(
            [
                FieldError(
                    "".join(f"/{part}" for part in one["loc"]), f"{one['msg']} in the {which}"
                )
                for one in error.errors(include_url=False, include_input=False)
            ]
        ) from error
