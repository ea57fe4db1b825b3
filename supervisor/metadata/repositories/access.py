"""The rows of principals, of sessions and of denied tries."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, RowMapping, delete, func, insert, or_, select, update

from supervisor.core.values.permissions import EVERYTHING, DeniedTry, Grant, Principal, Role
from supervisor.core.values.sessions import Session
from supervisor.metadata.schema.access import denied_tries, principals, sessions
from supervisor.metadata.schema.rows import insert_unless_taken
from supervisor.ports.access import DENIED_KEPT

_AT = principals.c
_SESSION = sessions.c
_ALL = select(principals).order_by(_AT.name)


class SqlAccess:
    """See `ports.access.Access`."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, principal: Principal) -> bool:
        """Insert a principal; False, changing nothing, if the name was ever used."""
        return insert_unless_taken(self._db, (principals, [_row(principal)]))

    def get(self, name: str) -> Principal | None:
        """Return one principal, revoked or not."""
        found = self._db.execute(_ALL.where(_AT.name == name)).mappings().first()
        return None if found is None else _principal(found)

    def all(self) -> list[Principal]:
        """Return every principal, by name."""
        return [_principal(row) for row in self._db.execute(_ALL).mappings()]

    def put(self, principal: Principal) -> bool:
        """Replace the principal if the stored version is one lower; else change nothing.

        The result says whether the row was replaced.
        """
        mine = (_AT.name == principal.name, _AT.version == principal.version - 1)
        done = self._db.execute(update(principals).where(*mine).values(**_row(principal)))
        return done.rowcount == 1

    def begin_session(self, session: Session, most: int) -> None:
        """Insert a session, and delete those of its principal beyond the `most` used last."""
        mine = (_SESSION.principal == session.principal, _SESSION.digest != session.digest)
        last_used = (_SESSION.used_at.desc(), _SESSION.digest)
        beyond = select(_SESSION.digest).where(*mine).order_by(*last_used).offset(most - 1)
        self._db.execute(insert(sessions).values(**asdict(session)))
        digests = self._db.execute(beyond).scalars().all()
        if digests:
            self._db.execute(delete(sessions).where(_SESSION.digest.in_(digests)))

    def session(self, digest: str) -> Session | None:
        """Return one session, ended or not."""
        row = self._db.execute(select(sessions).where(_SESSION.digest == digest)).mappings().first()
        return None if row is None else Session(**row)

    def use_session(self, digest: str, now: datetime) -> None:
        """Store that a session was used, unless a later use is stored; a missing one stays so."""
        mine = (_SESSION.digest == digest, _SESSION.used_at < now)
        self._db.execute(update(sessions).where(*mine).values(used_at=now))

    def end_session(self, digest: str) -> bool:
        """Delete a session; False: there was none."""
        done = self._db.execute(delete(sessions).where(_SESSION.digest == digest))
        return done.rowcount == 1

    def delete_sessions(self, used_before: datetime, begun_before: datetime, limit: int) -> int:
        """Delete sessions that were used last, or begun, before a time; return how many."""
        old = or_(_SESSION.used_at < used_before, _SESSION.begun_at < begun_before)
        digests = self._db.execute(select(_SESSION.digest).where(old).limit(limit)).scalars().all()
        if not digests:
            return 0
        return self._db.execute(delete(sessions).where(_SESSION.digest.in_(digests))).rowcount

    def deny(self, tries: Sequence[DeniedTry]) -> None:
        """Append denied tries, and delete all but the newest 10,000."""
        if not tries:
            return
        self._db.execute(insert(denied_tries), [asdict(each) for each in tries])
        newest = self._db.execute(select(func.max(denied_tries.c.id))).scalar_one()
        self._db.execute(delete(denied_tries).where(denied_tries.c.id <= newest - DENIED_KEPT))

    def denied(self, limit: int) -> list[DeniedTry]:
        """Return denied tries, newest first."""
        at = denied_tries.c
        names = ("first_at", "last_at", "times", "name", "address", "what", "why")
        newest = select(*(at[name] for name in names)).order_by(at.id.desc()).limit(limit)
        return [DeniedTry(**row) for row in self._db.execute(newest).mappings()]


def _row(principal: Principal) -> dict[str, object]:
    return {
        "name": principal.name,
        "kind": principal.kind,
        "secret": principal.secret,
        "grants": [_document(grant) for grant in principal.grants],
        "created_at": principal.created_at,
        "expires_at": principal.expires_at,
        "revoked_at": principal.revoked_at,
        "version": principal.version,
    }


def _document(grant: Grant) -> dict[str, str]:
    # Release 0.1.0 reads no `topics`: a grant on all topics stays in its form.
    topics = {} if grant.topics == EVERYTHING else {"topics": grant.topics}
    return {"role": grant.role.value, "tables": grant.tables, **topics}


def _principal(row: RowMapping) -> Principal:
    return Principal(
        name=row["name"],
        kind=row["kind"],
        secret=row["secret"],
        grants=tuple(
            Grant(Role(g["role"]), g["tables"], g.get("topics", EVERYTHING)) for g in row["grants"]
        ),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        version=row["version"],
    )
