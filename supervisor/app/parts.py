"""Parts of an overlord from its settings: formats, limits, host names, authentication.

Like `overlord.py`, which puts all parts together, this module may name adapters.
"""

import functools
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from supervisor.adapters.passwords import Argon2Passwords
from supervisor.core.planning.observed import PlanLimits
from supervisor.core.tables.exports import ExportedFile
from supervisor.core.values.export_formats import ExportFormat
from supervisor.core.values.throttle import Lockout, Rate
from supervisor.database.engine import bounded_url
from supervisor.ports.clock import Clock
from supervisor.ports.store import Store
from supervisor.ports.tables.exports import Copies, OpenTable, TableFormat
from supervisor.services.access.authentication import AccessRules, Authentication
from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import OVERLORD_PORT, Settings

BURST_S = 10
"""The burst of the rate limit: a caller may send requests for so many seconds at once."""
CATALOG_WAIT = timedelta(seconds=10)
"""The maximum time of one statement of the Iceberg catalog, and of its wait for a lock."""


class _OnFirstUse:
    """A table format that loads its library with the first export, to save memory."""

    def __init__(self, load: Callable[[], TableFormat]) -> None:
        self._load = functools.cache(load)

    def open(self, data_source: str) -> OpenTable:
        return self._load().open(data_source)


class _CopiesOnFirstUse:
    """Copies that load their library on first use: few tables have a column that grows."""

    def __init__(self, load: Callable[[], Copies]) -> None:
        self._load = functools.cache(load)

    def size_of(self, data_source: str, file: ExportedFile) -> int | None:
        return self._load().size_of(data_source, file)

    def make(self, data_source: str, file: ExportedFile) -> int:
        return self._load().make(data_source, file)


def copies_in(warehouse: Path, failpoint: Callable[[str], None]) -> Copies:
    """Return the port that copies published files of a warehouse to the present column types."""

    def local() -> Copies:
        from supervisor.adapters.tables.widened_copies import LocalCopies

        return LocalCopies(warehouse, failpoint)

    return _CopiesOnFirstUse(local)


def table_formats(warehouse: Path, metadata_url: str) -> dict[ExportFormat, TableFormat]:
    """Return the table formats whose libraries are installed, for a warehouse."""

    def delta() -> TableFormat:
        from supervisor.adapters.tables.delta import DeltaFormat

        return DeltaFormat(warehouse)

    def iceberg() -> TableFormat:
        from supervisor.adapters.tables.iceberg import IcebergFormat

        return IcebergFormat(warehouse, bounded_url(metadata_url, CATALOG_WAIT))

    formats: dict[ExportFormat, TableFormat] = {}
    if find_spec("pyiceberg"):
        formats[ExportFormat.ICEBERG] = _OnFirstUse(iceberg)
    if find_spec("deltalake"):
        formats[ExportFormat.DELTA] = _OnFirstUse(delta)
    return formats


def limits_of(settings: Settings) -> PlanLimits:
    """Return the limits of the planner from the settings.

    Raises:
        SetupProblem: the settings contradict each other.
    """
    try:
        return PlanLimits(
            period=settings.supervisor_period,
            pause_lease=settings.pause_lease,
            pause_timeout=settings.pause_timeout,
            progress_timeout=settings.progress_timeout,
        )
    except ValueError as error:
        raise SetupProblem(
            str(error), "lower TIDEGATE_PAUSE_TIMEOUT or raise TIDEGATE_PAUSE_LEASE"
        ) from error


def names_of(url: str, host: str) -> tuple[str, ...]:
    """Return the host names of this overlord for clients; a wildcard address is not a name."""
    own = {urlsplit(url).hostname or "", host} - {"", "0.0.0.0", "::"}  # noqa: S104 -- left out
    return tuple(sorted(own))


def address_for_workers(settings: Settings, url: str) -> str:
    """Return the address at which workers call this overlord, which is else called at `url`.

    Raises:
        SetupProblem: the workers' port is also the port for everybody else.
    """
    if settings.internal_port is None:
        return url
    if settings.internal_port == (settings.port or OVERLORD_PORT):
        raise SetupProblem(
            f"TIDEGATE_INTERNAL_PORT ({settings.internal_port}) is also the port for everybody",
            "choose another, or unset it: then workers call the same port as everybody",
        )
    host = urlsplit(url).hostname or settings.host
    scheme = "http" if settings.tls_cert is None else "https"  # no proxy of `url` is between
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.internal_port}"


def authentication_of(settings: Settings, store: Store, clock: Clock) -> Authentication | None:
    """Return the authentication of callers; None: callers are not authenticated."""
    if not settings.requires_login:
        return None
    lockout = Lockout(settings.lockout_failures, settings.lockout.total_seconds())
    rate = Rate(settings.rate_limit, settings.rate_limit * BURST_S)
    return Authentication(store, clock, passwords_of(settings), AccessRules(lockout, rate))


def passwords_of(settings: Settings) -> Argon2Passwords:
    """Return the password hashing with the operator's parameters."""
    return Argon2Passwords(settings.password_memory, settings.password_passes)
