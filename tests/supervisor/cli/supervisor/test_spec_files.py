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


LISTS = {
    "specs.json": '[{"id": "one"},\n {"id": "bad"}, {"id": "two"}]\n',
    "specs.yaml": "- id: one\n- {id: bad}\n- id: two\n",
    "-": '\ufeff [ {"id": "one"}, {"id": "bad"}, {"id": "two"} ] ',
}


@pytest.mark.parametrize("name", LISTS)
def test_each_spec_of_a_list_is_applied_and_has_its_result(
    tidegate: Tidegate,
    server: Overlord,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Goal: what the console exports can be applied as it is."""
    server.ask = by_name
    if name == "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LISTS[name].encode())))
    else:
        (tmp_path / name).write_text(LISTS[name])

    ended = tidegate("supervisor", "apply", "-f", name)

    assert ended.code == 1
    assert ended.out == "one is applied\ntwo is applied\n"
    assert f"{name}#2 (bad):" in ended.err
    assert "1 of 3 failed" in ended.err


def test_the_results_of_a_list_name_the_supervisors(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.ask = by_name
    (tmp_path / "specs.json").write_text(LISTS["specs.json"])

    rows = tidegate("supervisor", "apply", "-f", "specs.json", "-o", "json").json()

    assert isinstance(rows, list)
    assert [row["id"] for row in rows] == ["one", "specs.json#2 (bad)", "two"]
    assert tidegate("supervisor", "apply", "-f", "specs.json", "-o", "name").out == "one\ntwo\n"


def test_specs_of_a_list_in_json_are_sent_byte_by_byte(tmp_path: Path) -> None:
    """Goal: it is the overlord that sees a repeated key, or a number that is too long."""
    specs = [
        '{"a": 1, "a": 1.50}',
        '{ "dataSchema": {"dataSource": "t]"} }',
        '{"spec": {"dataSchema": {"dataSource": "\u00fc"}}}',
    ]
    (tmp_path / "specs.json").write_text(f"[{specs[0]} ,\n\t{specs[1]},{specs[2]}]")

    read = list(read_specs([str(tmp_path / "specs.json")]))

    assert [spec.body for spec in read] == [spec.encode() for spec in specs]
    assert [spec.name.rpartition("#")[2] for spec in read] == ["1", "2 (t])", "3 (\u00fc)"]


def test_a_list_of_one_spec_is_that_spec(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text('[{"id": "one"}]')

    [read] = read_specs([str(tmp_path / "spec.json")])

    assert (read.name, read.body) == (str(tmp_path / "spec.json"), b'{"id": "one"}')


@pytest.mark.parametrize(
    ("text", "message"),
    [("[]", "is empty"), ("[ ]\n", "is empty"), ('[{"id": "one"}, [], 3]', "#2: it is no spec")],
)
def test_a_list_without_specs_is_refused_here(
    tidegate: Tidegate, server: Overlord, tmp_path: Path, text: str, message: str
) -> None:
    server.ask = by_name
    for name in ("specs.json", "specs.yaml"):
        (tmp_path / name).write_text(text)

        ended = tidegate("supervisor", "apply", "-f", name)

        assert ended.code == 1
        assert message in ended.err


@pytest.mark.parametrize("text", ['[{"a": 1}', '[{"a": 1},]', '[{"a": 1}] x', "[1 2]", "[" * 9_999])
def test_a_broken_list_in_json_is_for_the_overlord_to_refuse(tmp_path: Path, text: str) -> None:
    (tmp_path / "specs.json").write_text(text)

    [read] = read_specs([str(tmp_path / "specs.json")])

    assert read.body == text.encode()


@pytest.mark.parametrize("text", ['[{"id": "a"}, {"id": "b"}]', "- id: a\n- id: b\n"])
def test_a_command_for_one_spec_says_how_many_a_list_has(
    tidegate: Tidegate, tmp_path: Path, text: str
) -> None:
    (tmp_path / "specs").write_text(text)

    ended = tidegate("supervisor", "diff", "-f", "specs")

    assert ended.code == 1
    assert "specs has 2 specs, and this command takes one" in ended.err


def test_only_new_says_so_to_the_overlord(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", BASE, Reply({"id": "clicks", "modified": True, "version": 1}))
    (tmp_path / "spec.json").write_text("{}")

    tidegate("supervisor", "apply", "-f", "spec.json", "--only-new")

    assert server.requests[0].headers["if-none-match"] == "*"
