"""`tidegate doctor` about executors: who has registered, in which state, with which clock."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from supervisor.adapters.executions.database import ExecutionDatabase, migrate_executions
from supervisor.adapters.executions.executors import SqlExecutors
from supervisor.adapters.executions.schema import EXECUTORS
from supervisor.cli.cluster.doctor.check import InstallationCheck, Result
from supervisor.cli.cluster.doctor.executors import check_executors
from supervisor.core.executions.entities import Runner
from supervisor.settings.settings import Settings, load_settings
from tests.supervisor.cli.overlord import Overlord, Reply

NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    """Those of a machine whose executions go through Kafka."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/executions.db"
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", url)
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_KAFKA", "127.0.0.1:1")
    migrate_executions(url)
    return load_settings()


def _register(settings: Settings, name: str, url: str, silent: timedelta = timedelta()) -> None:
    assert settings.executions_url is not None
    with closing(ExecutionDatabase(settings.executions_url)) as database:
        SqlExecutors(database).register(Runner(name, "one"), url)
        with database.writing() as connection:
            heard = update(EXECUTORS).values(renewed_at=datetime.now(UTC) - silent)
            connection.execute(heard.where(EXECUTORS.c.name == name))


def _checks(settings: Settings) -> dict[str, InstallationCheck]:
    return {each.part: each for each in check_executors(settings)}


def test_nothing_is_checked_where_the_leader_runs_flows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _checks(load_settings()) == {}


def test_a_database_that_cannot_be_read_has_a_check_of_its_own(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_EXECUTIONS_URL", "postgresql://u@127.0.0.1:1/none")
    assert _checks(load_settings()) == {}
    assert "executors" in _checks(settings)


def test_flows_without_any_executor_are_a_problem(settings: Settings) -> None:
    checked = _checks(settings)["executors"]

    assert (checked.result, checked.fix) == (Result.PROBLEM, "start one: tidegate executor")


@pytest.mark.parametrize(
    ("answer", "result", "words"),
    [
        ({}, Result.OK, "RUNNING, and its clock agrees"),
        ({"state": "WAITING", "reason": "Kafka is away"}, Result.PROBLEM, "WAITING: Kafka is away"),
        ({"now": datetime.now(UTC) - timedelta(hours=1)}, Result.PROBLEM, "clock differs"),
        ({"now": datetime.now(UTC) + timedelta(hours=1)}, Result.PROBLEM, "clock differs"),
        ({"now": None}, Result.OK, "RUNNING"),
    ],
    ids=["well", "waiting", "an hour behind", "an hour ahead", "of an older release"],
)
def test_an_executor_is_asked_for_its_state_and_its_clock(
    server: Overlord,
    settings: Settings,
    answer: dict[str, object],
    result: Result,
    words: str,
) -> None:
    body = {"state": "RUNNING", "reason": "", "now": datetime.now(UTC)} | answer
    now = body["now"]
    body["now"] = now.isoformat() if isinstance(now, datetime) else None
    server.on("GET", "/status", Reply(body))
    _register(settings, "x1", server.url)

    checked = _checks(settings)["executor x1"]

    assert checked.result is result
    assert words in checked.finding


def test_one_that_is_heard_of_and_cannot_be_reached_from_here_is_a_note(
    settings: Settings,
) -> None:
    _register(settings, "x1", NOBODY)

    checked = _checks(settings)["executor x1"]

    assert checked.result is Result.NOTE
    assert NOBODY in checked.finding


def test_one_that_fell_silent_is_a_problem_until_it_is_forgotten(settings: Settings) -> None:
    _register(settings, "x1", NOBODY, timedelta(minutes=20))
    _register(settings, "x2", NOBODY, timedelta(days=2))

    checked = _checks(settings)

    assert [*checked] == ["executor x1"]
    assert checked["executor x1"].result is Result.PROBLEM
    assert "1,200 s" in checked["executor x1"].finding
