"""Specs from files: YAML, folders, stdin, several at once."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.cli.shell.problems import CommandFailed
from supervisor.cli.supervisor.spec_files import read_specs
from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import PROBLEM, Overlord, Reply, Request

SPEC = """
type: kafka
spec:
  dataSchema:
    dataSource: clicks  # the table
    on: off
    number: 010
    many: [1, 2.5, true, null, ~, 1e3, 2026-01-01, .nan]
"""
READ = {
    "type": "kafka",
    "spec": {
        "dataSchema": {
            "dataSource": "clicks",
            "on": "off",
            "number": "010",
            "many": [1, 2.5, True, None, None, 1000.0, "2026-01-01", ".nan"],
        }
    },
}


def bodies(path: Path) -> list[object]:
    """What would be posted; it has to be readable."""
    parsed = []
    for spec in read_specs([str(path)]):
        assert isinstance(spec.body, bytes), spec.body
        parsed.append(json.loads(spec.body))
    return parsed


def refusal(text: str, tmp_path: Path) -> str:
    """Why a YAML text is refused."""
    file = tmp_path / "spec.yaml"
    file.write_text(text)
    [spec] = read_specs([str(file)])
    assert isinstance(spec.body, CommandFailed)
    return str(spec.body)


def test_yaml_is_read_by_the_rules_of_1_2(tmp_path: Path) -> None:
    """Goal: a topic named `on`, a version 010 and a date stay what was written."""
    (tmp_path / "spec.yaml").write_text(SPEC)

    assert bodies(tmp_path / "spec.yaml") == [READ]


def test_a_file_may_hold_several_documents(tmp_path: Path) -> None:
    (tmp_path / "all.yml").write_text("a: 1\n---\nb: 2\n---\n")

    assert bodies(tmp_path / "all.yml") == [{"a": 1}, {"b": 2}]
    assert [s.name.rpartition("#")[2] for s in read_specs([str(tmp_path / "all.yml")])] == [
        "1",
        "2",
    ]


def test_a_folder_is_its_specs_by_name(tmp_path: Path) -> None:
    for name in ("b.json", "a.yaml", "c.yml"):
        (tmp_path / name).write_text(f'{{"name": "{name}"}}')
    (tmp_path / "README.md").write_text("no spec")

    assert bodies(tmp_path) == [{"name": n} for n in ("a.yaml", "b.json", "c.yml")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1]\nb: *x\n", "line 2: aliases (*name) are not taken"),
        ("a: 1\nb: 2\na: 3\n", "the key 'a' is given twice"),
        ("a: [1\n", "line 2"),
        ("? [a]\n: 1\n", "a key must be a text"),
        ("a: !!python/object:os.system x\n", "could not determine a constructor"),
        ("a: !!timestamp 2026-01-01\n", "not JSON serializable"),
        ("# nothing\n", "is empty"),
        ("[" * 5_000, "nested too deeply"),
        ("a: \x01\n", "special characters are not allowed"),
    ],
)
def test_what_no_spec_needs_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(text, tmp_path)


def test_copies_of_copies_are_not_made(tmp_path: Path) -> None:
    """Goal: a billion laughs cost nothing."""
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]

    assert "aliases" in refusal("\n".join(lines), tmp_path)


_KEYS = st.text("abn01")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="abno01.-: #é", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abn01"), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcdn", min_size=1), _VALUES, min_size=1, max_size=4))
def test_json_in_a_yaml_file_means_the_same(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, object]
) -> None:
    file = tmp_path_factory.mktemp("specs") / "spec.yaml"
    file.write_text(json.dumps(document))

    assert bodies(file) == [document]


def test_stdin_may_be_yaml(
    tidegate: Tidegate, server: Overlord, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SPEC.encode())))

    assert tidegate("supervisor", "apply", "-f", "-").code == 0
    assert json.loads(server.requests[0].body) == READ


BASE = "/druid/indexer/v1/supervisor"


def by_name(request: Request) -> Reply:
    """Refuse what is called bad."""
    name = json.loads(request.body)["id"]
    if name == "bad":
        return Reply({"title": "The spec is not acceptable", "detail": "no"}, 400, PROBLEM)
    return Reply({"id": name, "modified": True, "version": 1})


@pytest.fixture
def three(server: Overlord, tmp_path: Path) -> Path:
    """A folder of two good specs and a bad one between them."""
    server.ask = by_name
    for number, name in enumerate(("one", "bad", "two")):
        (tmp_path / f"{number}.json").write_text(json.dumps({"id": name}))
    return tmp_path


def test_each_spec_is_told_and_one_that_fails_stops_no_other(
    tidegate: Tidegate, three: Path
) -> None:
    ended = tidegate("supervisor", "apply", "-f", str(three), "-f", "none.json")

    assert ended.code == 1
    assert ended.out == "one is applied\ntwo is applied\n"
    assert "2 of 4 failed" in ended.err
    assert "1.json" in ended.err
    assert "none.json cannot be read" in ended.err


def test_several_answers_are_one_list(tidegate: Tidegate, three: Path) -> None:
    rows = tidegate("supervisor", "apply", "-f", str(three), "-o", "json").json()

    assert isinstance(rows, list)
    assert ["answer" in row for row in rows] == [True, False, True]


def test_only_new_says_so_to_the_overlord(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    (tmp_path / "spec.json").write_text("{}")

    tidegate("supervisor", "apply", "-f", "spec.json", "--only-new")

    assert server.requests[0].headers["if-none-match"] == "*"
