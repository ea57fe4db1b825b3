"""Fixtures of the command line: a server in the overlord's place, and the command itself."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from supervisor.cli.main import run
from tests.supervisor.cli.overlord import Overlord, overlord


@dataclass(frozen=True)
class Ended:
    """What one command printed, and its exit code."""

    code: int
    out: str
    err: str

    def json(self) -> object:
        """Return stdout as JSON."""
        return cast("object", json.loads(self.out))


Tidegate = Callable[..., Ended]


@pytest.fixture
def server() -> Iterator[Overlord]:
    with overlord() as running:
        yield running


@pytest.fixture
def tidegate(
    server: Overlord,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Tidegate:
    """Run a command in an empty folder, against the server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEGATE_OVERLORDS", server.url)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("TIDEGATE_PROFILE", raising=False)

    def ended(*arguments: str) -> Ended:
        code = run(arguments)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return ended
