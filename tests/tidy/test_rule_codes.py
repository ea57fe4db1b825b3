"""Whatever is cited exists: rule codes have an anchor, named files and tests are there."""

from collections import Counter
from pathlib import PurePosixPath

import pytest

from tests.tidy import rule_codes
from tests.tidy.sources import ROOT, project_files, python_files, text_of

PAGES = tuple(path for path in project_files() if path.endswith(".md"))
OWN_PAGES = tuple(path for path in PAGES if path != "CHANGELOG.md")
"""The changelog tells of files and tests as they were."""
CODE = python_files("supervisor", "tasks", "alembic", "tests", "bench", "scripts")


def _text(path: str) -> str:
    text = text_of(path)
    assert text is not None
    return text


def _known() -> set[str]:
    return {code for page in rule_codes.LAW for code in rule_codes.anchors(_text(page))}


def _unknown(cited: set[str]) -> list[str]:
    return sorted(cited - _known())


def test_every_code_has_one_anchor() -> None:
    anchors = Counter(code for page in rule_codes.LAW for code in rule_codes.anchors(_text(page)))

    assert len(anchors) > 100
    assert [code for code, number in anchors.items() if number > 1] == []


def test_every_code_that_python_cites_has_an_anchor() -> None:
    """Goal: a reader of `(P21)` can look it up."""
    known = _known()
    cited = {path: rule_codes.codes_of_python(path, _text(path)) for path in CODE}

    assert {path: codes - known for path, codes in cited.items() if codes - known} == {}
    assert len(set().union(*cited.values())) > 80


@pytest.mark.parametrize("page", PAGES)
def test_every_code_that_a_page_cites_has_an_anchor(page: str) -> None:
    assert _unknown(rule_codes.codes_of_page(_text(page))) == []


def test_every_page_that_python_names_exists() -> None:
    names = {PurePosixPath(page).name for page in PAGES} | set(PAGES)
    missing = {path: rule_codes.pages_named(_text(path)) - names for path in CODE}

    assert {path: found for path, found in missing.items() if found} == {}


@pytest.mark.parametrize("page", OWN_PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    named = rule_codes.paths_named(_text(page))

    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_test_that_a_page_names_exists() -> None:
    defined = {name for path in CODE for name in rule_codes.tests_defined(_text(path))}
    modules = {PurePosixPath(path).stem for path in CODE}
    named = {page: rule_codes.tests_named(_text(page)) - defined - modules for page in OWN_PAGES}

    assert {page: found for page, found in named.items() if found} == {}


@pytest.mark.parametrize(
    ("path", "text", "codes"),
    [
        ("supervisor/x.py", '"""Reads the term first (P1, I5)."""', {"P1", "I5"}),
        ("supervisor/x.py", "x = 1  # a hole at the end (R10)", {"R10"}),
        ("supervisor/x.py", 'class A:\n    b: int\n    """Of E3-E7."""', {"E3", "E7"}),
        ("supervisor/x.py", '"""Rows A1 to A15; faults.md S18."""', {"A1", "A15", "S18"}),
        ("tests/simulation/x.py", 'Mutant("no-cas", "R5, M1", "nothing")', {"R5", "M1"}),
        ("tests/chaos/x.py", 'f"I5: term {old} became {new}"', {"I5"}),
        ("supervisor/x.py", '"""P1D, 2024-W18-3, `P0`, `P1`, S3, "E4", HTTP2."""', set()),
        ("supervisor/x.py", "P1 = 'R5'", set()),
    ],
)
def test_citations_are_found_and_nothing_else(path: str, text: str, codes: set[str]) -> None:
    assert rule_codes.codes_of_python(path, text) == codes


def test_what_leads_nowhere_is_caught() -> None:
    text = "by (Z9, P99); `supervisor/core/planning/plan.py`, `supervisor/no.py`, `test_of_nothing`"

    assert _unknown(rule_codes.codes_of_page(text)) == ["P99"]
    assert rule_codes.paths_named(text) == {"supervisor/core/planning/plan.py", "supervisor/no.py"}
    assert rule_codes.tests_named(text) == {"test_of_nothing"}
    assert rule_codes.pages_named('"""See no.md, https://a.b/c.md."""') == {"no.md"}
    assert rule_codes.anchors('### <a id="p1"></a>P1. A rule') == ["P1"]
