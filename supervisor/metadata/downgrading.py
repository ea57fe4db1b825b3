"""Schema downgrade of the metadata database, so that an earlier release can start again.

    nobody renews the lease for one TTL ──► lock, lease taken and given up, steps down, commit
    somebody renews it ────────────────────► refused; nothing is changed

The downgrade takes the lease in its own transaction.  So a leader that was only silent can write
nothing afterwards.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from supervisor.core.model.rows import Lease
from supervisor.core.values.errors import DowngradeRefused
from supervisor.metadata.migrate import migrating, newest, scripts, stored_revisions
from supervisor.metadata.repositories.lease import SqlLease

LOOK_S = 0.2
_HOLDER = "tidegate metadata downgrade"


def lost_by(to: str) -> list[str]:
    """Return the data that a downgrade to revision `to` loses, one line per step, newest first.

    Raises:
        DowngradeRefused: there is no downgrade to that revision.
    """
    known = ScriptDirectory(str(scripts()))
    lost: list[str] = []
    for step in known.walk_revisions():
        if step.revision == to:
            return lost
        loss = getattr(step.module, "LOST", None)
        if loss is None:
            break
        lost.append(f"{step.revision}: {loss}")
    raise DowngradeRefused(f"there is no way back from schema revision {newest()} to {to}")


def downgrade(
    url: str,
    to: str,
    *,
    lease_ttl: timedelta,
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Downgrade the schema to revision `to`; False: it has that or an earlier revision already.

    First watches the lease for one `lease_ttl`, to make sure that no overlord leads.

    Raises:
        DowngradeRefused: an overlord leads, there is no downgrade to that revision, or the schema
            is not of this release's revision.
        MetadataBusy, MetadataUnavailable: nothing was changed.
    """
    lost_by(to)
    seen = _silent_lease(url, lease_ttl, pause)
    with migrating(url) as connection:
        stored = stored_revisions(connection)
        if not stored or max(stored) <= to:
            return False
        if stored != [newest()]:
            raise DowngradeRefused(
                f"the schema is of revision {', '.join(stored)}, and this release's is {newest()}: "
                "let the release that migrated it take it back"
            )
        _depose(connection, seen)
        _step_down(connection, scripts(), to)
    return True


def _silent_lease(url: str, lease_ttl: timedelta, pause: Callable[[float], None]) -> Lease | None:
    """Return the lease, after nobody has renewed it for one TTL by the clock of this process."""
    first, until = _lease(url), time.monotonic() + lease_ttl.total_seconds()
    while first is not None and first.holder and time.monotonic() < until:
        pause(LOOK_S)
        if _lease(url) != first:
            raise DowngradeRefused(
                f"an overlord leads, at {first.url or 'an address of its own'}: stop every "
                "overlord first"
            )
    return first


def _lease(url: str) -> Lease | None:
    with migrating(url) as connection:
        return SqlLease(connection).read() if stored_revisions(connection) else None


def _depose(connection: Connection, seen: Lease | None) -> None:
    """End the term of a leader that was only silent, so that its transactions are refused."""
    lease = SqlLease(connection)
    if lease.read() != seen:
        raise DowngradeRefused("an overlord has begun to lead meanwhile: stop every overlord first")
    if seen is None:
        return
    taken = lease.take(seen, _HOLDER, "")
    if taken is None:
        raise DowngradeRefused("an overlord has begun to lead meanwhile: stop every overlord first")
    lease.release(taken.term, _HOLDER)


def _step_down(connection: Connection, folder: Path, to: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.downgrade(config, to)
