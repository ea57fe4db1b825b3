"""The composition root of the overlord: from settings to a running HTTP server.

The worker's composition root is `worker.py`.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from supervisor.adapters.clock import SystemClock
from supervisor.adapters.tables.warehouse import LocalWarehouse
from supervisor.api.http.listeners import Listener
from supervisor.api.server import create_api
from supervisor.app.listening import new_server, tls_of
from supervisor.app.overlord import wire_overlord
from supervisor.app.parts import address_for_workers, passwords_of
from supervisor.app.process import (
    configure_logging,
    data_folder,
    failpoints,
    listen,
    writable_folder,
)
from supervisor.app.serving import serve
from supervisor.app.short_pauses import short_pauses
from supervisor.control.warehouse_owner import take_possession
from supervisor.core.values.errors import MetadataUnavailable, SchemaTooNew
from supervisor.metadata.migrate import migrate
from supervisor.metadata.store import SqlStore
from supervisor.services.access.principals import Principals
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import OVERLORD_PORT, Settings
from tasks.runtime.http_guard import raise_file_limit

log = structlog.get_logger()


def open_store(settings: Settings) -> SqlStore:
    """Migrate the metadata database to this version's schema, and open it.

    Raises:
        SetupProblem: the database is newer than this version, or cannot be reached.
    """
    try:
        migrate(settings.metadata_url)
        return SqlStore(settings.metadata_url, lease_ttl=settings.lease_ttl)
    except SchemaTooNew as error:
        raise SetupProblem(str(error), "run the version of Tidegate that migrated it") from error
    except MetadataUnavailable as error:
        raise SetupProblem(
            str(error), "check TIDEGATE_METADATA_URL and that the database is up"
        ) from error


def lost_by_downgrade(to: str) -> list[str]:
    """Return descriptions of the data that `downgrade_metadata` would lose; raises as it does."""
    from supervisor.metadata.downgrading import lost_by  # loads Alembic, which no start needs

    return lost_by(to)


def downgrade_metadata(settings: Settings, to: str) -> bool:
    """Bring the metadata database back to schema revision `to`; False: it is there already.

    Raises:
        DowngradeRefused: an overlord leads, or there is no downgrade to `to`.
        MetadataBusy, MetadataUnavailable: nothing was changed.
    """
    from supervisor.metadata.downgrading import downgrade

    return downgrade(settings.metadata_url, to, lease_ttl=settings.lease_ttl)


def require_admin(settings: Settings, store: SqlStore) -> None:
    """Return if callers are not authenticated, or there is an administrator.

    Raises:
        SetupProblem: there is no administrator.
    """
    if settings.requires_login and not principals_of(settings, store).has_admin():
        why = "TIDEGATE_AUTH=required" if settings.on_loopback else f"TIDEGATE_HOST={settings.host}"
        raise SetupProblem(
            f"with {why} callers are asked who they are, and this overlord has no administrator",
            "make an administrator: tidegate access token create admin --role admin --on '*'",
        )


def principals_of(settings: Settings, store: SqlStore) -> Principals:
    """Return the verbs of `tidegate access` for a metadata database."""
    return Principals(store, SystemClock(), passwords_of(settings))


@contextmanager
def open_principals(settings: Settings) -> Iterator[Principals]:
    """Open the metadata database for `tidegate access`; no overlord need run.

    Raises:
        SetupProblem: the database is newer than this version, or cannot be reached.
    """
    store = open_store(settings)
    try:
        yield principals_of(settings, store)
    finally:
        store.close()


def run_overlord(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code.

    Raises:
        SetupProblem: a port, folder, database or setting prevents the start.
    """
    configure_logging(form=settings.log_format)
    reach = failpoints()
    settings.connections()
    tls = tls_of(settings)
    raise_file_limit()
    sockets = _listeners(settings)
    data_folder(settings.data_dir)
    writable_folder(settings.warehouse, "TIDEGATE_WAREHOUSE")
    store = open_store(settings)
    require_admin(settings, store)
    take_possession(store, LocalWarehouse(settings.warehouse.absolute()))
    overlord = wire_overlord(settings, store, settings.url(OVERLORD_PORT), reach)
    scheduler = overlord.start()
    log.info("overlord", url=settings.url(OVERLORD_PORT), warehouse=str(settings.warehouse))
    try:
        with short_pauses():
            return serve(
                {
                    new_server(create_api(overlord.services, listener), settings, tls): bound
                    for listener, bound in sockets.items()
                },
                overlord.services.changed.close,
                lambda: overlord.ended_threads(scheduler),
            )
    finally:
        overlord.stop(scheduler)


def _listeners(settings: Settings) -> dict[Listener, socket.socket]:
    """Return the listeners of an overlord with their sockets, which are bound already.

    Raises:
        SetupProblem: a port is taken, or both ports are the same.
    """
    for_workers = address_for_workers(settings, settings.url(OVERLORD_PORT))
    everybody = listen(settings.host, settings.port or OVERLORD_PORT)
    if settings.internal_port is None:
        return {Listener.EVERYBODY: everybody}
    log.info("workers have a port of their own", url=for_workers)
    workers = listen(settings.host, settings.internal_port, "TIDEGATE_INTERNAL_PORT")
    return {Listener.PEOPLE: everybody, Listener.WORKERS: workers}
