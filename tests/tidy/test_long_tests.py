"""Tests that take minutes say so: the marker, the head of the file and the page are of one mind."""

import ast
import re
from pathlib import Path

import pytest

from tests import lanes
from tests.tidy.sources import ROOT

PAGE = ROOT / "docs/contributing/long-tests.md"
_MARK = re.compile(r"pytest\.mark\.long\b")
_ROW = re.compile(r"^\| (`[a-z].*?) \| .* \| (.*) \|$", re.MULTILINE)
_PATH = re.compile(r"`tests/([a-z_]+/[\w./]*)`")


def _marked() -> set[str]:
    tests = ROOT / "tests"
    files = [path for path in tests.rglob("test_*.py") if path != Path(__file__)]
    return {str(path.relative_to(tests)) for path in files if _MARK.search(path.read_text("utf-8"))}


def _listed(page: str) -> set[str]:
    """Return the files of the first column; a folder is all tests in it."""
    paths = {path for row in _ROW.finditer(page) for path in _PATH.findall(row[1])}
    folders = {path for path in paths if path.endswith("/")}
    within = {
        str(file.relative_to(ROOT / "tests"))
        for folder in folders
        for file in (ROOT / "tests" / folder).glob("test_*.py")
    }
    return paths - folders | within


def test_the_page_lists_each_long_test() -> None:
    assert _listed(PAGE.read_text("utf-8")) == _marked()


def test_the_page_says_what_the_short_run_shows_instead() -> None:
    rows = list(_ROW.finditer(PAGE.read_text("utf-8")))

    assert rows
    for row in rows:
        others = _PATH.findall(row[2])
        assert not set(others) & _marked(), row[0]
        assert [one for one in others if not (ROOT / "tests" / one).exists()] == [], row[0]


@pytest.mark.parametrize("file", sorted(_marked()))
def test_the_head_of_a_long_file_says_why(file: str) -> None:
    head = ast.get_docstring(ast.parse(Path(ROOT / "tests" / file).read_text("utf-8"))) or ""

    assert re.search(r"^Slow: \w", head, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("pytestmark = pytest.mark.spark\n", True),
        ("X = 1\npytestmark = [\n    pytest.mark.timeout(9),\n    pytest.mark.spark,\n]\n", True),
        ("pytestmark = pytest.mark.timeout(9)\n\n@pytest.mark.spark\ndef test_a(): ...\n", False),
        ("def test_a(): ...\n", False),
    ],
)
def test_a_file_is_not_imported_if_a_marker_leaves_out_the_whole_of_it(
    text: str, left_out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "_LEFT_OUT", ["pg", "spark"])
    tests, others = tmp_path / "test_one.py", tmp_path / "one.py"
    for file in (tests, others):
        file.write_text(text)

    assert lanes.is_left_out(tests) is left_out
    assert not lanes.is_left_out(others)
