"""A process that is frozen in the midst of a write keeps its locks no longer than its session may.

PostgreSQL ends a session that idles inside a transaction, but only between statements: in a
pipeline, where a driver sends rows one after the other and asks for nothing, it is never idle.
"""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import psutil
import psycopg
import pytest
import sqlalchemy as sa

from supervisor.database.engine import WRITES, Bounds, create_engine
from tests.waiting import wait_until

pytestmark = pytest.mark.pg
TTL = timedelta(seconds=3)
TABLE = sa.Table("held", sa.MetaData(), sa.Column("name", sa.Text), sa.Column("age", sa.Integer))


class Sleeper(str):
    """A value at which whoever writes it is frozen."""

    __slots__ = ()


class _Freezes(psycopg.adapt.Dumper):
    def dump(self, obj: str) -> bytes:
        os.kill(os.getpid(), signal.SIGSTOP)
        return obj.encode()


@pytest.mark.parametrize("what", ["insert", "update"])
def test_the_locks_of_a_frozen_writer_are_given_back(postgresql_database: str, what: str) -> None:
    """Source: P1, D2; a walk of chaos, seed 101: nobody took over for a minute."""
    with psycopg.connect(postgresql_database, autocommit=True) as looking:
        looking.execute("CREATE TABLE held (name text, age integer)")
        looking.execute("INSERT INTO held VALUES ('first', 0), ('second', 0)")
        command = [sys.executable, "-m", __name__, postgresql_database, what]
        frozen = subprocess.Popen(command)
        try:
            process = psutil.Process(frozen.pid)
            wait_until(lambda: process.status() == psutil.STATUS_STOPPED)
            looking.execute("SET lock_timeout = '15s'")
            with looking.transaction():
                looking.execute("LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
        finally:
            frozen.kill()
            frozen.wait()
        assert looking.execute("SELECT sum(age), count(*) FROM held").fetchall() == [(0, 2)]


def _write(url: str, what: str) -> None:
    engine = create_engine(url, Bounds.below(TTL))
    with engine.connect() as connection:
        connection.execution_options(**{WRITES: True})
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        driver.adapters.register_dumper(Sleeper, _Freezes)
        names = ["first", Sleeper("second")]
        if what == "insert":
            connection.execute(sa.insert(TABLE), [{"name": name, "age": 1} for name in names])
        else:
            changed = sa.update(TABLE).where(TABLE.c.name == sa.bindparam("who")).values(age=1)
            connection.execute(changed, [{"who": name} for name in names])
        connection.commit()


if __name__ == "__main__":
    _write(*sys.argv[1:])
