"""Several processes open a SQLite file that nobody has used before."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

from supervisor.database.engine import Bounds, create_engine

_ROUNDS, _AT_ONCE = 60, 6
_LONG = timedelta(seconds=30)
_BOUNDS = Bounds(statement=_LONG, lock=_LONG, idle=_LONG, connect=_LONG, pool_size=0)


def test_all_who_open_a_new_file_at_once_get_it(tmp_path: Path) -> None:
    """Goal: the switch to a write-ahead log is waited for; SQLite itself refuses at once."""
    for number in range(_ROUNDS):
        url = f"sqlite:///{tmp_path}/{number}.db"
        together = Barrier(_AT_ONCE)

        def opened(url: str = url, together: Barrier = together) -> str:
            together.wait()
            with create_engine(url, _BOUNDS).connect() as connection:
                return str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            modes = [pool.submit(opened) for _ in range(_AT_ONCE)]
            assert {mode.result() for mode in modes} == {"wal"}
