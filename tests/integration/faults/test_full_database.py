"""The disk of the metadata database is full: the overlord says so, lives, and goes on with space.

Source: faults F6.  The error is the kernel's ENOSPC, of a small file system; where none can be
mounted there is no test.
"""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.environment.small_disks import can_mount, mounted
from tests.integration.oracle import spec
from tests.integration.overlords import SUPERVISORS, Overlords, silent_broker
from tests.waiting import wait_until

pytestmark = pytest.mark.process

REFUSED = {f"/problems/{kind}" for kind in ("metadata-unavailable", "not-the-leader")}


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    with mounted(folder, size="8m"):
        yield folder


def _fill(folder: Path) -> Path:
    """Leave no byte; return what holds them."""
    path, size = folder / "filler", 65_536
    filler = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while size:
        try:
            os.write(filler, b"x" * size)
        except OSError:
            size //= 2
    os.close(filler)
    return path


def _integrity(database: Path) -> str:
    connection = sqlite3.connect(database)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


def _recovers(small: Path, folder: Path) -> None:
    database = small / "metadata.db"
    quick = {"TIDEGATE_LEASE_TTL": "PT3S"}
    with (
        silent_broker() as address,
        Overlords(folder, f"sqlite:///{database}", quick) as overlords,
    ):
        overlord = overlords.start()
        wait_until(overlord.leads)

        def post(task_count: int) -> httpx.Response:
            wanted = spec(address, "clicks", task_count=task_count)
            return overlord.http.post(SUPERVISORS, json=wanted)

        assert post(1).status_code == httpx.codes.OK
        filler = _fill(small)
        wait_until(lambda: post(2).status_code != httpx.codes.OK)
        wait_until(lambda: not overlord.leads())  # no renewal is written
        refused = post(3)
        read = overlord.http.get("/api/v1/datasources")
        logged = overlord.log()
        filler.unlink()
        wait_until(overlord.leads)
        again = post(4)
        stored = overlord.http.get(f"{SUPERVISORS}/clicks").json()
        pid = overlord.child.pid

    assert (refused.status_code, refused.json()["type"] in REFUSED) == (503, True), refused.text
    assert "Retry-After" in refused.headers
    assert (read.status_code, read.json()["dataSources"]) == (200, ["clicks"])
    assert "database or disk is full" in logged
    assert again.status_code == httpx.codes.OK, again.text
    assert stored["spec"]["ioConfig"]["taskCount"] == 4
    assert pid is not None, "it did not live on"
    assert _integrity(database) == "ok"


if can_mount():

    def test_a_full_disk_of_the_database_is_told_and_survived(small: Path, tmp_path: Path) -> None:
        _recovers(small, tmp_path)
