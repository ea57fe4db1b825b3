"""`tidegate execution restore-topics`: what it needs, and what it refuses; it asks no overlord."""

from pathlib import Path

import pytest

from supervisor.adapters.executions.database import migrate_executions
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord


def test_it_needs_the_brokers(tidegate: Tidegate, server: Overlord) -> None:
    ended = tidegate("execution", "restore-topics", "--dry-run")

    assert ended.code == 1
    assert "no brokers of executions are named" in ended.err
    assert "fix: set TIDEGATE_EXECUTIONS_KAFKA as executors do" in ended.err
    assert not server.requests


def test_a_dry_run_is_about_all(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", "127.0.0.1:1")
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", f"sqlite:///{tmp_path}/executions.db")

    ended = tidegate("execution", "restore-topics", "--dry-run", "--execution", "e1")

    assert ended.code == 2
    assert "leave --execution out" in ended.err


def test_brokers_that_do_not_answer_are_named(
    tidegate: Tidegate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/executions.db"
    migrate_executions(url)
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", "127.0.0.1:1")
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", url)

    ended = tidegate("execution", "restore-topics", "--yes")

    assert ended.code == 1
    assert "127.0.0.1:1" in ended.err
    assert "fix: run the command again" in ended.err
