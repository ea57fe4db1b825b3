"""The house rules hold in every file; what is let off is listed, and needed."""

from functools import cache

import pytest

from tests.tidy.exceptions import RULES, SKIPS
from tests.tidy.purity import impurities
from tests.tidy.rules import PYTHON_RULES, TEXT_RULES, Rule, is_generated
from tests.tidy.sources import Finding, project_files, python_files, text_of

EVERY_RULE: tuple[Rule, ...] = (*PYTHON_RULES, *TEXT_RULES, impurities)


@cache
def _findings() -> dict[Rule, list[Finding]]:
    """Look at each file once, with every rule that is meant for it."""
    findings: dict[Rule, list[Finding]] = {rule: [] for rule in EVERY_RULE}
    code = set(python_files())
    for path in project_files():
        text = text_of(path)
        if text is None or is_generated(path):
            continue
        for rule in EVERY_RULE if path in code else TEXT_RULES:
            findings[rule] += rule(path, text)
    return findings


def _ids(rule: Rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", EVERY_RULE, ids=_ids)
def test_each_rule_holds_in_every_file(rule: Rule) -> None:
    broken = [str(found) for found in _findings()[rule] if found.key not in RULES]

    assert not broken, "\n" + "\n".join(broken)


def test_each_exception_is_needed_and_has_a_reason() -> None:
    found = {finding.key for every in _findings().values() for finding in every}

    assert not [key for key in RULES if key not in found], "remove what is no longer needed"
    assert not [why for why in (*RULES.values(), *SKIPS.values()) if len(why) < 10], "say why"


def test_the_files_that_are_checked_are_there() -> None:
    """Goal: a checker that finds no files would pass on anything."""
    assert {"pyproject.toml", "supervisor/__init__.py", "tasks/contract/offsets.py"} <= set(
        project_files()
    )
    assert "tasks/contract/offsets.py" in python_files("tasks")
    assert not [path for path in project_files() if path.startswith(".venv/")]
