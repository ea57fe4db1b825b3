"""`tidegate flow plan`: what is sent, what is printed, and its exit codes."""

import json
from pathlib import Path

from tests.supervisor.cli.conftest import Tidegate
from tests.supervisor.cli.overlord import Overlord, Reply

_PATH = "/api/v1/flows/plan"


def _step(name: str, **more: object) -> dict[str, object]:
    about: dict[str, object] = {"step": name, "type": "noop", "begins": "yes", "inside": []}
    known: dict[str, object] = {"after": [], "dependsOn": [], "effect": None, "error": None}
    return {**about, **known, "costs": "one call", "looked": True, **more}


def _plan(*steps: dict[str, object], left_out: int = 0) -> dict[str, object]:
    return {"flow": "day", "inputs": {}, "steps": list(steps), "leftOut": left_out}


def _file(folder: Path) -> str:
    file = folder / "day.yaml"
    file.write_text("flow: day\nsteps:\n  - {name: pack, type: noop}\n")
    return str(file)


def test_each_step_has_a_line(tidegate: Tidegate, server: Overlord, tmp_path: Path) -> None:
    steps = (
        _step("pack", type="compact", effect={"text": "2 files become 1", "digest": "d"}),
        _step("ok", type="approve", effect={"question": "go on?"}),
        _step("tell", type="http", dependsOn=["pack"], inside=["all[1]"]),
        _step("late", begins="no", dependsOn=["pack"]),
        _step("many", looked=False),
    )
    server.on("POST", _PATH, Reply(_plan(*steps, left_out=7)))

    ended = tidegate("flow", "plan", _file(tmp_path), "-i", "day=2026-11-25")

    assert ended.code == 0
    assert [" ".join(line.split()) for line in ended.out.splitlines()] == [
        "STEP TYPE BEGINS WOULD",
        "pack compact yes 2 files become 1",
        'ok approve yes {"question": "go on?"}',
        "all[1]/tell http yes depends on pack",
        "late noop no",
        "many noop yes not looked at: there were too many steps, or no answers, before it",
    ]
    assert "There are 7 more steps" in ended.err
    assert json.loads(server.requests[-1].body) == {
        "flow": {"flow": "day", "steps": [{"name": "pack", "type": "noop"}]},
        "inputs": {"day": "2026-11-25"},
    }


def test_a_wide_line_has_what_the_step_costs(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    server.on("POST", _PATH, Reply(_plan(_step("pack"))))

    ended = tidegate("flow", "plan", _file(tmp_path), "-o", "wide")

    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines == ["STEP TYPE BEGINS WOULD COSTS", "pack noop yes one call"]


def test_a_step_that_would_fail_is_exit_code_1(
    tidegate: Tidegate, server: Overlord, tmp_path: Path
) -> None:
    error = {"code": "data-source-not-found", "message": "there is no table none"}
    server.on("POST", _PATH, Reply(_plan(_step("pack", error=error))))

    ended = tidegate("flow", "plan", _file(tmp_path))
    assert ended.code == 1
    assert "fail: there is no table none (data-source-not-found)" in ended.out

    shown = tidegate("flow", "plan", _file(tmp_path), "-o", "json")
    assert shown.code == 1
    assert '"code": "data-source-not-found"' in shown.out
