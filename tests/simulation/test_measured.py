"""`--coverage` measures every module that decides, and fails if too little of them was run."""

from collections.abc import Iterator

import pytest

from tasks.contract.offsets import is_at_end
from tests.simulation import __main__ as command
from tests.simulation.deciding import OTHERS, ROOTS, deciding, found_from
from tests.simulation.measured import Branches
from tests.simulation.run import Outcome


def test_every_part_of_the_planner_the_judgement_and_the_machine_is_measured() -> None:
    parts = "plan publish view wake_condition observed offset_moves"
    rules = "generations starts handoff_due bounds handoff"
    core = {f"supervisor/core/planning/{part}.py" for part in parts.split()}
    core |= {f"supervisor/core/planning/rules/{rule}.py" for rule in rules.split()}
    tasks = {f"tasks/machine/{part}.py" for part in ("machine", "orders", "reading", "events")}
    others = {"supervisor/core/spec/changes.py", "tasks/contract/offsets.py"}
    assert core | tasks | others <= set(deciding())


def test_what_is_not_measured_is_imported_by_what_is_and_has_a_reason() -> None:
    assert found_from(ROOTS) >= OTHERS.keys()
    assert all(OTHERS.values())
    assert not OTHERS.keys() & set(ROOTS)


def test_less_than_nine_tenths_are_too_little() -> None:
    assert Branches(total=20, taken=18).enough
    assert not Branches(total=20, taken=17).enough
    assert not Branches().enough
    assert "85.0 % of 20; at least 90 % are wanted" in Branches(total=20, taken=17).verdict()


def test_the_command_fails_if_too_few_branches_are_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hardly_anything_runs(*_: object) -> Iterator[Outcome]:
        assert is_at_end({}, {})
        return iter(())

    monkeypatch.setattr(command, "outcomes", hardly_anything_runs)
    assert command.main(["--seeds", "0"]) == 0
    assert command.main(["--seeds", "0", "--coverage"]) == 1
    output = capsys.readouterr().out
    assert "at least 90 % are wanted" in output
    assert "supervisor/core/planning/rules/handoff_due.py" in output
