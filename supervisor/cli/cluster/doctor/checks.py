"""The checks of `tidegate doctor`: each examines one part and changes nothing.

A check never raises: an error becomes its result, with a fix.
"""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import httpx
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

import supervisor
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.shell.output import size
from supervisor.dev.ports import LOOPBACK, is_free
from supervisor.settings.problems import SetupProblem
from supervisor.verify.verifier import secret_of_environment
from tasks.contract.kafka_client import KafkaClient, librdkafka_properties
from tasks.runtime.errors import RuntimePartError
from tasks.runtime.jars import JarGroup, ensure_jars, pinned_set
from tasks.runtime.java import Java, find_java

_OTHERS_RIGHTS = 0o077
_ASK_S = 6.0
_DISK_LOW, _DISK_FULL = 5 << 30, 1 << 30
_FROZEN = (
    "a process that is frozen while it writes to SQLite blocks all others, so that no overlord can "
    "take over, until it goes on or ends; PostgreSQL ends such a session"
)
_FIX_METADATA = "check TIDEGATE_METADATA_URL, and that the database is up and accepts the login"


def check_java(choice: str, data_dir: Path) -> tuple[InstallationCheck, Java | None]:
    """Find the Java that a worker would use."""
    try:
        java = find_java(choice, data_dir / "truststore")
    except (RuntimePartError, OSError) as error:
        fix = "install a JDK 17 or 21, or name one with TIDEGATE_JAVA"
        return InstallationCheck("java", Result.PROBLEM, str(error), fix), None
    kind = "bundled Java" if java.bundled else "Java"
    return InstallationCheck("java", Result.OK, f"{kind} {java.version} at {java.executable}"), java


def check_jars(
    part: JarGroup, data_dir: Path, own: Path | None, java: Java | None, *, fetch: bool
) -> InstallationCheck:
    """Check a group of jars against its pinned digests; `fetch`: download missing jars."""
    name = f"jars: {part.value}"
    try:
        pinned = pinned_set(part)
        here = own is not None or (data_dir / "jars" / pinned.name).is_dir()
        if not here and not fetch:
            first = "the broker of `tidegate dev`" if part is JarGroup.KAFKA else "the first worker"
            found = f"{pinned.name} is not here yet; {first} fetches it, or `doctor --fetch`"
            return InstallationCheck(name, Result.NOTE, found)
        if java is None:
            return InstallationCheck(
                name, Result.PROBLEM, "fetching needs a Java", "see java above"
            )
        jars = ensure_jars(data_dir / "jars", java, part, jars_folder=own)
    except (RuntimePartError, OSError) as error:
        if part is JarGroup.FORMATS:  # an old folder of jars without formats works for all else
            return InstallationCheck(name, Result.NOTE, f"Avro records cannot be read: {error}")
        fix = f"remove the folder to fetch it again: {data_dir / 'jars'}"
        own_fix = "correct the folder that TIDEGATE_JARS names"
        return InstallationCheck(name, Result.PROBLEM, str(error), fix if own is None else own_fix)
    return InstallationCheck(name, Result.OK, f"{len(jars)} jars of {pinned.name}, each as pinned")


def check_folder(
    name: str, folder: Path, setting: str, *, private: bool = False
) -> InstallationCheck:
    """Check that a folder is writable, or can be created; `private`: and is its owner's alone."""
    if folder.exists() and not folder.is_dir():
        return InstallationCheck(
            name, Result.PROBLEM, f"{folder} is no folder", f"correct {setting}"
        )
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=nearest, prefix=".tidegate-doctor-") as probe:
            probe.write(b"x")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        finding = f"{nearest} cannot be written: {error.strerror}"
        fix = f"set {setting} to a folder that this user may write"
        return InstallationCheck(name, Result.PROBLEM, finding, fix)
    if not folder.exists():
        return InstallationCheck(name, Result.OK, f"{folder} (made at the first start)")
    if private and folder.stat().st_mode & _OTHERS_RIGHTS:
        finding = f"{folder} can be read by other accounts of this machine"
        fix = f"chmod 700 {folder}, unless others read tables in it"
        return InstallationCheck(name, Result.NOTE, finding, fix)
    return InstallationCheck(name, Result.OK, str(folder))


def check_disk(name: str, folder: Path) -> InstallationCheck:
    """Check the free disk space of a folder."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    finding = f"{size(free)} free at {nearest}"
    if free < _DISK_FULL:
        return InstallationCheck(name, Result.PROBLEM, finding, "make room, or move the folder")
    return InstallationCheck(name, Result.NOTE if free < _DISK_LOW else Result.OK, finding)


def check_metadata(url: str) -> InstallationCheck:
    """Connect to the metadata database and compare its schema with this version's."""
    part = "metadata database"
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        finding = "TIDEGATE_METADATA_URL is not a URL"
        return InstallationCheck(
            part, Result.PROBLEM, finding, "write sqlite:///file or postgresql://host/name"
        )
    if parsed.get_backend_name() == "sqlite":
        if not Path(parsed.database or "").is_file():
            finding = f"{parsed.database} is made at the first start of an overlord"
            return _limited(InstallationCheck(part, Result.NOTE, finding))
        # Read-only, because a check must not create a lock file or a database.
        parsed = sa.make_url(f"sqlite:///file:{parsed.database}?mode=ro&uri=true")
    else:
        parsed = parsed.set(drivername="postgresql+psycopg")
    try:
        checked = _compared(part, parsed)
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        cause = getattr(error, "orig", None) or error
        return InstallationCheck(
            part, Result.PROBLEM, str(cause).strip().partition("\n")[0], _FIX_METADATA
        )
    return _limited(checked) if parsed.get_backend_name() == "sqlite" else checked


def _limited(check: InstallationCheck) -> InstallationCheck:
    """Add the limits of SQLite to the finding about a sound SQLite database."""
    if check.result is Result.PROBLEM:
        return check
    return replace(check, result=Result.NOTE, finding=f"{check.finding}; {_FROZEN}")


def _compared(part: str, url: sa.URL) -> InstallationCheck:
    timeout = "timeout" if url.get_backend_name() == "sqlite" else "connect_timeout"
    engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args={timeout: int(_ASK_S)})
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            finding = f"{url.get_backend_name()} answers; an overlord makes the tables at its start"
            return InstallationCheck(part, Result.NOTE, finding)
        rows = connection.execute(sa.text("SELECT version_num FROM alembic_version"))
        stored = rows.scalar_one_or_none()
    known = [script.revision for script in _scripts().walk_revisions()]  # newest first
    if stored == known[0]:
        return InstallationCheck(
            part, Result.OK, f"{url.get_backend_name()} answers, schema {stored}"
        )
    if stored in known:
        finding = (
            f"schema {stored} is older than this version; an overlord upgrades it at its start"
        )
        return InstallationCheck(part, Result.NOTE, finding)
    finding = f"schema {stored} is of a newer Tidegate than this one"
    return InstallationCheck(part, Result.PROBLEM, finding, "run the version that migrated it")


def _scripts() -> ScriptDirectory:
    package = Path(supervisor.__file__).parent
    installed = package / "metadata" / "migrations"
    return ScriptDirectory(str(installed if installed.is_dir() else package.parent / "alembic"))


def check_port(name: str, port: int, path: str) -> InstallationCheck:
    """Check that a port is free, or that Tidegate listens there and answers at `path`."""
    if is_free(port):
        return InstallationCheck(name, Result.OK, f"port {port} is free")
    try:
        answer = httpx.get(f"http://{LOOPBACK}:{port}{path}", timeout=_ASK_S, trust_env=False)
        asks = 'realm="tidegate"' in answer.headers.get("www-authenticate", "")
        answered = asks or answer.status_code < 400  # noqa: PLR2004 -- HTTP
        ours = answered and answer.headers["content-type"].endswith("json")
    except (httpx.HTTPError, KeyError):
        ours = False
    if ours:
        return InstallationCheck(name, Result.OK, f"port {port} has one of ours")
    found = f"port {port} is taken by something else"
    return InstallationCheck(
        name, Result.PROBLEM, found, "stop it, or set TIDEGATE_PORT to another port"
    )


def check_broker(client: KafkaClient) -> InstallationCheck:
    """Ask a broker for its topics."""
    part = f"kafka {client.bootstrap_servers}"
    try:
        properties = librdkafka_properties(client, secret_of_environment)
        cluster = AdminClient({**properties, "log_level": 0}).list_topics(timeout=_ASK_S)
    except SetupProblem as error:
        return InstallationCheck(part, Result.PROBLEM, str(error), error.fix)
    except KafkaException as error:
        first = error.args[0] if error.args else error
        text = first.str() if isinstance(first, KafkaError) else str(first)
        fix = "check the address, and that the broker's advertised listeners are reachable"
        return InstallationCheck(part, Result.PROBLEM, text, fix)
    return InstallationCheck(
        part, Result.OK, f"{len(cluster.brokers)} brokers, {len(cluster.topics)} topics"
    )
