"""Profiles: what counts before what, and that it is told."""

from pathlib import Path

import pytest

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply, overlord

BASE = "/druid/indexer/v1/supervisor"
ROW = {"id": "a", "state": "RUNNING", "dataSource": "t"}


@pytest.fixture
def profiles(server: Overlord, tmp_path: Path) -> Path:
    """The profile `here` names this server, `there` nothing that listens."""
    server.on("GET", BASE, Reply([ROW]))
    path = tmp_path / "config" / "tidegate" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        f'[profiles.here]\noverlords = ["{server.url}/"]\noutput = "name"\n'
        '[profiles.there]\noverlords = ["http://127.0.0.1:1"]\n'
        f'token_file = "{tmp_path}/token"\n'
    )
    (tmp_path / "token").write_text("tdg_profile\n")
    return path


def test_a_profile_says_whom_to_talk_to_and_how_to_print(
    tidegate: Tidegate, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert profiles.exists()
    monkeypatch.delenv("TIDEGATE_OVERLORDS")

    assert tidegate("--profile", "here", "supervisor", "list").out == "a\n"
    assert tidegate("--profile", "there", "supervisor", "list").code == 3
    monkeypatch.setenv("TIDEGATE_PROFILE", "here")
    assert tidegate("supervisor", "list").out == "a\n"
    assert tidegate("supervisor", "list", "-o", "json").json() == [ROW]


def test_a_default_profile_needs_no_name(
    tidegate: Tidegate, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIDEGATE_OVERLORDS")
    profiles.write_text(f'default = "here"\n{profiles.read_text()}')

    assert tidegate("supervisor", "list").out == "a\n"
    assert tidegate("config", "list", "-o", "table").out.splitlines()[1].split()[-1] == "yes"


def rows(tidegate: Tidegate, *arguments: str) -> dict[str, tuple[object, object]]:
    """Return name -> (value, source) of `config show`."""
    found = tidegate(*arguments, "-o", "json").json()
    assert isinstance(found, list)
    return {row["name"]: (row["value"], row["source"]) for row in found}


def test_a_flag_counts_before_the_environment_and_that_before_the_profile(
    tidegate: Tidegate, server: Overlord, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert profiles.exists()
    show = ("--profile", "there", "config", "show")
    with overlord() as other:
        flag = rows(tidegate, *show, "--server", other.url)
        assert flag["overlord"] == (other.url, "--server")
    assert rows(tidegate, *show)["overlord"] == (server.url, "TIDEGATE_OVERLORDS")
    monkeypatch.delenv("TIDEGATE_OVERLORDS")
    of_profile = rows(tidegate, *show)
    assert of_profile["overlord"] == ("http://127.0.0.1:1", "profile there")
    assert of_profile["profile"] == ("there", "--profile")
    assert of_profile["token_file"] == (str(profiles.parents[2] / "token"), "profile there")
    assert rows(tidegate, "config", "show")["overlord"] == ("http://127.0.0.1:8090", "default")
    Path("tidegate.toml").write_text('overlords = ["http://10.0.0.1:8090"]\n')
    settings = rows(tidegate, "config", "show")
    assert settings["overlord"] == ("http://10.0.0.1:8090", "tidegate.toml")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[profiles.a]\noverlord = []", "profiles.a.overlord is not known", "overlords"),
        ("profile = 1", "profile is not known", "profiles"),
        ('[profiles.a]\noverlords = ["x y"]', "is not an address", "http://host:port"),
        ('[profiles.a]\noutput = "xml"', "profiles.a.output", "table"),
        ("[", "cannot be read", "TOML"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(
    tidegate: Tidegate, profiles: Path, text: str, message: str, hint: str
) -> None:
    profiles.write_text(text)

    ended = tidegate("config", "list")

    assert ended.code == 1
    assert message in ended.err
    assert hint in ended.err


def test_a_profile_that_is_not_there_is_an_error_that_names_the_nearest(
    tidegate: Tidegate, profiles: Path
) -> None:
    assert profiles.exists()
    ended = tidegate("--profile", "ther", "config", "show")

    assert ended.code == 1
    assert "did you mean there?" in ended.err


def test_a_profile_that_the_environment_overrules_is_told(
    tidegate: Tidegate, profiles: Path
) -> None:
    """Goal: who names a profile and talks to another place hears of it."""
    assert profiles.exists()

    assert "TIDEGATE_OVERLORDS counts before --profile" in (
        tidegate("--profile", "there", "supervisor", "list").err
    )
    assert "note:" not in tidegate("supervisor", "list").err


def test_without_a_file_there_are_no_profiles(tidegate: Tidegate) -> None:
    ended = tidegate("config", "list")

    assert (ended.code, ended.out.split()) == (0, ["NAME", "OVERLORDS", "IN", "FORCE"])
    assert "config.toml would hold them" in ended.err


def test_a_token_of_a_profile_goes_to_its_overlords_alone(
    tidegate: Tidegate, server: Overlord, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with overlord() as there:
        there.on("GET", BASE, Reply([ROW]))
        profiles.write_text(profiles.read_text().replace("http://127.0.0.1:1", there.url))
        ask = ("--profile", "there", "supervisor", "list")
        assert tidegate(*ask).code == 0, "the environment names another overlord"
        monkeypatch.delenv("TIDEGATE_OVERLORDS")
        assert tidegate(*ask, "--server", server.url).code == 0
        assert tidegate(*ask).code == 0
        monkeypatch.setenv("TIDEGATE_TOKEN", "tdg_variable")
        assert tidegate(*ask).code == 0

        assert [request.authorization for request in server.requests] == [None, None]
        sent = [request.authorization for request in there.requests]
        assert sent == ["Bearer tdg_profile", "Bearer tdg_variable"]
