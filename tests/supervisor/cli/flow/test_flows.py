"""`tidegate flow validate` and `simulate`: what they print, and their exit codes."""

from pathlib import Path
from typing import cast

import pytest

from supervisor.core.flows.json_schema import flow_schema
from tests.supervisor.cli.conftest import Tidegate

_FLOW = """
flow: day
inputs: [{name: day, type: date}]
steps:
  - {name: pack, type: noop, retry: {attempts: 3, backoff: PT10S}, onLost: ask}
  - {name: ok, type: approve, question: "tell?", after: [pack]}
  - {name: sub, type: subflow, flow: child, after: [ok], inputs: {n: 3}}
outputs: {rows: "${ steps.pack.rows }", n: "${ steps.sub.n }"}
"""
_CHILD = """
flow: child
inputs: [{name: n, type: integer}]
steps: [{name: on, type: noop}]
outputs: {n: "${ inputs.n + 1 }"}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Return the paths of a flow, and of the flow that it calls."""
    for name, text in (("day", _FLOW), ("child", _CHILD)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return str(tmp_path / "day.yaml"), str(tmp_path / "child.yaml")


def test_flows_that_are_well_are_named_with_their_size(
    tidegate: Tidegate, files: tuple[str, str]
) -> None:
    ended = tidegate("flow", "validate", *files)

    assert ended.code == 0
    assert ended.out == "day: a flow of 3 steps\nchild: a flow of 1 step\n"


def test_the_schema_is_printed_for_editors(tidegate: Tidegate) -> None:
    assert tidegate("flow", "schema").json() == flow_schema()


def test_a_flow_that_is_wrong_says_where_and_what_to_do(tidegate: Tidegate, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("flow: f\nsteps:\n- {name: a, type: nop}\n- {name: b, type: noop, aftr: [a]}\n")

    ended = tidegate("flow", "validate", str(path))

    assert ended.code == 1
    assert "/steps/0: nop is no known type (did you mean noop?)" in ended.out
    assert "/steps/1/aftr: aftr is not known there (did you mean after?)" in ended.out


def test_a_flow_is_tried_with_the_outcomes_that_are_named(
    tidegate: Tidegate, files: tuple[str, str]
) -> None:
    """Goal: a second attempt, a child, and the outputs of both."""
    named = ("--outcome", "pack=fail", "--outcome", 'pack={"rows": 3}')

    ended = tidegate("flow", "simulate", *files, "-i", "day=2026-11-25", *named, "-o", "json")

    body = cast("dict[str, object]", ended.json())
    assert ended.code == 0
    assert body["state"] == "SUCCESS"
    assert body["outputs"] == {"rows": 3, "n": 4}
    events = cast("list[dict[str, object]]", body["events"])
    attempts = [each["attempt"] for each in events if each["name"] == "attempt-started"]
    assert attempts == [1, 2, 1, 1]
    assert max(cast("float", each["seconds"]) for each in events) >= 8


def test_the_table_has_a_line_for_what_happens(tidegate: Tidegate, files: tuple[str, str]) -> None:
    ended = tidegate("flow", "simulate", *files, "-i", "day=2026-11-25", "--outcome", "ok=no")

    assert ended.code == 1
    assert "step ended: FAILED" in ended.out
    assert "day: FAILED\n  ok: somebody said no (refused)" in ended.out


def test_a_try_that_waits_for_a_person_says_so(tidegate: Tidegate, files: tuple[str, str]) -> None:
    ended = tidegate("flow", "simulate", *files, "-i", "day=2026-11-25", "--outcome", "pack=lost")

    assert ended.code == 1
    assert "it waits for somebody to retry or skip pack" in ended.out
    assert "day: RUNNING" in ended.out


def test_inputs_of_a_child_are_bound_as_those_of_a_request(
    tidegate: Tidegate, tmp_path: Path
) -> None:
    """Goal: a default of the called flow counts, and an unknown input is found out."""
    flow, child = tmp_path / "day.yaml", tmp_path / "child.yaml"
    sub = "{name: sub, type: subflow, flow: child, inputs: {%s}}"
    child.write_text(_CHILD.replace("type: integer", "type: integer, default: 3"))
    texts = [f"flow: day\nsteps: [{sub % given}]\n" for given in ("", "m: 3", "n: three")]
    ended = []
    for text in texts:
        flow.write_text(text + 'outputs: {n: "${ steps.sub.n }"}\n')
        ended.append(tidegate("flow", "simulate", str(flow), str(child)))

    assert [one.code for one in ended] == [0, 1, 1]
    assert 'outputs: {"n": 4}' in ended[0].out
    assert "sub: the inputs do not fit the flow child: " in ended[1].out
    assert "m is no input of child (its inputs are n)" in ended[1].out
    assert "three is no integer" in ended[2].out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-i", "day"], "day has no name and value"),
        (["-i", "day=soon"], "soon is no date"),
        ([], "day is required"),
        (["-i", "day=2026-11-25", "--outcome", "pak=fail"], "did you mean pack?"),
        (["-i", "day=2026-11-25", "--outcome", "pack=7"], "7 is no outcome"),
    ],
)
def test_options_that_are_wrong_are_refused(
    tidegate: Tidegate, files: tuple[str, str], arguments: list[str], says: str
) -> None:
    ended = tidegate("flow", "simulate", *files, *arguments)

    assert ended.code == 1
    assert says in ended.err


def test_a_flow_of_yaml_keeps_words_and_dates_as_they_are_written(
    tidegate: Tidegate, tmp_path: Path
) -> None:
    """`no` is a name, and `2026-11-25` a text: so says YAML 1.2."""
    path = tmp_path / "f.yaml"
    path.write_text(
        "flow: f\ninputs: [{name: day, type: date, default: 2026-11-25}]\n"
        "steps: [{name: no, type: set, values: {day: '${ inputs.day }'}}]\n"
        "outputs: {day: '${ steps.no.day }'}\n"
    )

    ended = tidegate("flow", "simulate", str(path), "-o", "json")

    assert cast("dict[str, object]", ended.json())["outputs"] == {"day": "2026-11-25"}


def test_a_flow_of_more_than_256_kib_is_refused_with_its_size(
    tidegate: Tidegate, tmp_path: Path
) -> None:
    file = tmp_path / "large.yaml"
    values = "x" * 256 * 1024
    file.write_text(f"flow: day\nsteps: [{{name: a, type: set, values: {{x: {values}}}}}]\n")

    ended = tidegate("flow", "validate", str(file))

    assert ended.code == 1
    assert "at most 262144 (256 KiB) are allowed" in ended.out
