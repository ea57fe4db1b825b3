"""`tidegate access` on a database of its own, and what other commands do with credentials."""

import base64
import stat
from pathlib import Path

import pytest

from supervisor.settings.problems import SetupProblem
from supervisor.settings.settings import load_settings
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, overlord

SUPERVISORS = "/druid/indexer/v1/supervisor"
EVERYTHING = ("--role", "admin", "--on", "*")
NOT_THE_LEADER = "/problems/not-the-leader"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Argon2 with its smallest parameters."""
    monkeypatch.setenv("TIDEGATE_PASSWORD_MEMORY", "8")
    monkeypatch.setenv("TIDEGATE_PASSWORD_PASSES", "1")


def test_a_token_is_told_once_and_the_list_shows_who_may_what(tidegate: Tidegate) -> None:
    created = tidegate(
        "access", "token", "create", "ci", "--role", "viewer", "--on", "a*", "--on", "b"
    )
    worker = tidegate("access", "worker-token", "create", "w", "--expires", "P90D")
    listed = tidegate("access", "list", "-o", "json")
    assert (created.code, worker.code) == (0, 0)
    assert created.out.startswith("tdg_")
    assert created.out != worker.out
    rows = listed.json()
    assert isinstance(rows, list)
    assert [(row["name"], row["kind"], row["state"], row["grants"]) for row in rows] == [
        ("ci", "token", "live", ["viewer on a*", "viewer on b"]),
        ("w", "worker", "live", []),
    ]
    assert [row["expires"] is None for row in rows] == [True, False]
    assert created.out.strip() not in listed.out
    assert "viewer on a*" in tidegate("access", "list").out


def test_a_file_of_a_token_is_new_and_its_owners_alone(tidegate: Tidegate, tmp_path: Path) -> None:
    create = ("access", "token", "create")
    created = tidegate(*create, "ci", *EVERYTHING, "--file", "ci.token")
    again = tidegate(*create, "other", *EVERYTHING, "--file", "ci.token")
    taken = tidegate(*create, "ci", *EVERYTHING, "--file", "ci2.token")
    file = tmp_path / "ci.token"
    assert (created.code, created.out) == (0, "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("tdg_")
    assert again.code == 1
    assert taken.code == 1
    assert "taken" in taken.err
    assert not (tmp_path / "ci2.token").exists()
    assert '"other"' not in tidegate("access", "list", "-o", "json").out


def test_granting_adds_unless_it_is_to_replace(tidegate: Tidegate) -> None:
    tidegate("access", "token", "create", "ci", "--role", "viewer", "--on", "*")
    more = tidegate("access", "grant", "ci", "--role", "operator", "--on", "web-*")
    less = tidegate("access", "grant", "ci", "--role", "viewer", "--on", "b", "--only")
    assert more.out.strip() == "viewer on *, operator on web-*"
    assert less.out.strip() == "viewer on b"


def test_a_grant_may_be_of_some_topics_only(tidegate: Tidegate) -> None:
    to = ("--role", "operator", "--on", "web-*", "--topics", "web.*", "--topics", "logs")
    created = tidegate("access", "token", "create", "ci", *to)
    wrong = tidegate("access", "grant", "ci", "--role", "viewer", "--on", "a", "--topics", "a b")

    assert "operator on web-* from topics web.*, operator on web-* from topics logs" in created.err
    assert tidegate("access", "list", "-o", "json").json()[0]["grants"] == [  # type: ignore[index]  # a list
        "operator on web-* from topics web.*",
        "operator on web-* from topics logs",
    ]
    assert (wrong.code, "no pattern" in wrong.err) == (1, True)


def test_revoking_asks_first_and_is_for_good(tidegate: Tidegate) -> None:
    tidegate("access", "token", "create", "ci", *EVERYTHING)
    assert tidegate("access", "revoke", "ci").code == 2
    assert tidegate("access", "revoke", "ci", "--yes").code == 0
    assert tidegate("access", "revoke", "ci", "--yes").code == 1
    assert tidegate("access", "revoke", "nobody", "--yes").code == 1
    assert "revoked" in tidegate("access", "list").out


def test_a_bootstrap_makes_two_tokens_once(tidegate: Tidegate, tmp_path: Path) -> None:
    (tmp_path / "tokens").mkdir()
    assert tidegate("access", "bootstrap", "--folder", "tokens").code == 0
    before = {file.name: file.read_text() for file in (tmp_path / "tokens").iterdir()}
    assert tidegate("access", "bootstrap", "--folder", "tokens").code == 0
    after = {file.name: file.read_text() for file in (tmp_path / "tokens").iterdir()}
    assert before == after
    assert set(before) == {"admin.token", "workers.token"}


def test_workers_see_a_folder_that_the_administrators_token_was_never_in(
    tidegate: Tidegate, tmp_path: Path
) -> None:
    """Goal: also where both were made in one folder, by a version that may be started again."""
    for name in ("tokens", "for-workers"):
        (tmp_path / name).mkdir()
    assert tidegate("access", "bootstrap", "--folder", "tokens").code == 0
    before = (tmp_path / "tokens" / "workers.token").read_text()
    apart = ("access", "bootstrap", "--folder", "tokens", "--workers-folder", "for-workers")

    assert [tidegate(*apart).code for _ in range(2)] == [0, 0]

    assert (tmp_path / "tokens" / "workers.token").read_text() == before
    [file] = (tmp_path / "for-workers").iterdir()
    assert (file.name, file.read_text()) == ("workers.token", before)
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IRUSR | stat.S_IWUSR


def test_two_folders_are_filled_at_once(tidegate: Tidegate, tmp_path: Path) -> None:
    for name in ("tokens", "for-workers"):
        (tmp_path / name).mkdir()
    apart = ("access", "bootstrap", "--folder", "tokens", "--workers-folder", "for-workers")

    assert tidegate(*apart).code == 0

    assert [file.name for file in (tmp_path / "tokens").iterdir()] == ["admin.token"]
    assert [file.name for file in (tmp_path / "for-workers").iterdir()] == ["workers.token"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("token", "create", "a b", *EVERYTHING),
        ("token", "create", "ci", "--role", "viewer", "--on", "a b"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    tidegate: Tidegate, arguments: tuple[str, ...]
) -> None:
    ended = tidegate("access", *arguments)
    assert ended.code == 1
    assert "is no" in ended.err or "is not a name" in ended.err


def test_a_command_sends_its_token_and_a_variable_wins_over_a_file(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.on("GET", SUPERVISORS, Reply([]))
    (tmp_path / "token").write_text("tdg_of-the-file\n")
    assert tidegate("supervisor", "list").code == 0
    monkeypatch.setenv("TIDEGATE_TOKEN_FILE", "token")
    assert tidegate("supervisor", "list").code == 0
    monkeypatch.setenv("TIDEGATE_TOKEN", "tdg_of-the-variable")
    assert tidegate("supervisor", "list").code == 0
    sent = [request.authorization for request in server.requests]
    assert sent == [None, "Bearer tdg_of-the-file", "Bearer tdg_of-the-variable"]


def test_a_command_sends_a_name_and_a_password(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.on("GET", SUPERVISORS, Reply([]))
    (tmp_path / "password").write_text("pä:ss\n", encoding="utf-8")
    monkeypatch.setenv("TIDEGATE_USER", "alice")
    assert tidegate("supervisor", "list").code == 1
    monkeypatch.setenv("TIDEGATE_PASSWORD_FILE", "password")
    assert tidegate("supervisor", "list").code == 0
    encoded = base64.b64encode("alice:pä:ss".encode()).decode()
    assert [request.authorization for request in server.requests] == [f"Basic {encoded}"]


def test_credentials_go_to_configured_overlords_only(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: whoever poses as a follower cannot have a token sent to a place of its choice."""
    with overlord() as elsewhere:
        elsewhere.on("GET", SUPERVISORS, Reply([]))
        server.refuse("GET", SUPERVISORS, 503, type=NOT_THE_LEADER, leader=elsewhere.url)
        assert tidegate("supervisor", "list").code == 0, "without credentials nothing is at stake"
        monkeypatch.setenv("TIDEGATE_TOKEN", "tdg_x")
        ended = tidegate("supervisor", "list")
        assert ended.code == 3
        assert f"{elsewhere.url} leads, and is none of TIDEGATE_OVERLORDS" in ended.err
        monkeypatch.setenv("TIDEGATE_OVERLORDS", f"{server.url},{elsewhere.url}")
        assert tidegate("supervisor", "list").code == 0
        assert [request.authorization for request in elsewhere.requests] == [None, "Bearer tdg_x"]


@pytest.mark.parametrize(("name", "value"), [("TOKEN", "a b"), ("TOKEN_FILE", "none")])
def test_a_token_that_cannot_be_read_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"TIDEGATE_{name}", value)
    with pytest.raises(SetupProblem):
        load_settings().authorization()


def test_authorities_that_cannot_be_read_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("none.pem", "empty.pem"):
        (tmp_path / "empty.pem").touch()
        monkeypatch.setenv("TIDEGATE_TLS_CA", name)
        with pytest.raises(SetupProblem, match="TIDEGATE_TLS_CA"):
            load_settings().trust()
