"""`tidegate supervisor bundle`: one file, never over another one."""

from pathlib import Path

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

PATH = "/api/v1/supervisors/clicks/bundle"


def test_the_archive_is_written_as_it_came(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("GET", PATH, Reply("PK", headers={"Content-Type": "application/zip"}))
    file = tmp_path / "night.zip"
    at = "2026-01-05T03:10:00Z"

    ended = tidegate("supervisor", "bundle", "clicks", "--file", str(file), "--at", at)

    assert ended.code == 0
    assert b"PK" in file.read_bytes()
    assert server.requests[0].query == {"window": ["PT30M"], "at": [at]}
    assert str(file) in ended.out.replace("\n", "")


def test_a_file_that_is_there_stays(tidegate: Tidegate, server: Overlord, tmp_path: Path) -> None:
    server.on("GET", PATH, Reply("PK"))
    file = tmp_path / "night.zip"
    file.write_text("mine")

    ended = tidegate("supervisor", "bundle", "clicks", "--file", str(file))

    assert ended.code == 1
    assert file.read_text() == "mine"
    assert "is there already" in ended.err


def test_its_name_is_that_of_the_supervisor(
    tidegate: Tidegate, server: Overlord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server.on("GET", PATH, Reply("PK"))

    assert tidegate("supervisor", "bundle", "clicks").code == 0
    assert (tmp_path / "clicks-bundle.zip").exists()
