"""Each form of an answer: table, wide, json, yaml, name."""

import json

import pytest
import yaml

from supervisor.cli.shell.output import show_error
from supervisor.cli.shell.problems import ProblemAnswer
from supervisor.core.values.errors import FieldError
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

BASE = "/druid/indexer/v1/supervisor"
ROWS = [
    {
        "id": name,
        "dataSource": f"{name}_table",
        "state": "RUNNING",
        "detailedState": "RUNNING",
        "healthy": True,
        "suspended": False,
    }
    for name in ("a", "b")
]
SPEC = {"type": "kafka", "spec": {"when": "2026-01-01", "on": "no", "n": ["010", 1, None, "ä"]}}


@pytest.fixture
def listed(tidegate: Tidegate, server: Overlord) -> Tidegate:
    """An overlord with two supervisors."""
    server.on("GET", BASE, Reply(ROWS))
    server.on("GET", f"{BASE}/a", Reply(SPEC))
    return tidegate


def test_wide_shows_more_columns_than_the_table(listed: Tidegate) -> None:
    narrow = listed("supervisor", "list").out.splitlines()[0].split()
    wide = listed("supervisor", "list", "-o", "wide").out.splitlines()

    assert wide[0].split() == [*narrow, "TABLE", "SUSPENDED"]
    assert wide[1].split()[-2:] == ["a_table", "no"]


def test_names_are_ids_alone(listed: Tidegate) -> None:
    assert listed("supervisor", "list", "-o", "name").out == "a\nb\n"
    assert listed("supervisor", "get", "a", "-o", "name").out == "a\n"


def test_json_and_yaml_say_the_same(listed: Tidegate) -> None:
    for arguments, expected in ((("list",), ROWS), (("get", "a"), SPEC)):
        as_json = listed("supervisor", *arguments, "-o", "json").out
        as_yaml = listed("supervisor", *arguments, "-o", "yaml").out

        assert as_json == json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
        assert yaml.safe_load(as_yaml) == expected


def test_one_command_does_not_choose_for_the_next(listed: Tidegate) -> None:
    listed("supervisor", "list", "-o", "name")

    assert listed("supervisor", "list").out.startswith("ID ")


def test_a_verb_prints_what_it_was_done_to(listed: Tidegate, server: Overlord) -> None:
    server.on("POST", f"{BASE}/a/suspend", Reply(SPEC))

    assert listed("supervisor", "suspend", "a", "-o", "name").out == "a\n"


def test_nothing_is_coloured_for_a_pipe(listed: Tidegate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")

    assert "\x1b" not in listed("supervisor", "list", "-o", "wide").out


@pytest.mark.parametrize(
    ("title", "first"),
    [
        ("The spec is wrong", "error: The spec is wrong"),
        ("/spec/ioConfig: no topic", "error: /spec/ioConfig: no topic"),
        ("", "error: refused"),
    ],
)
def test_an_error_and_its_places_have_lines_of_their_own(
    title: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = FieldError(pointer="/spec/ioConfig", message="no topic")

    show_error(ProblemAnswer("/spec/ioConfig: no topic", status=400, title=title, errors=[place]))

    assert capsys.readouterr().err.splitlines() == [first, "  /spec/ioConfig: no topic"]
