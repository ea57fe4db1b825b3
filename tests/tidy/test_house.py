"""The house shows its architecture: folders of bounded size, one noun per feature, clear names."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import pytest

from tests.tidy.sources import ROOT, python_files, text_of

ENTRIES_MAX = 20
"""Files and folders of one folder: more is a heap."""
FAMILY_MAX = 2
"""Files of one folder that begin with the same word: more is a folder of its own."""
PRODUCT = python_files("supervisor", "tasks")
NAMED = python_files("supervisor", "tasks", "tests")
"""Where names are held against the short list; the name of a test is a sentence."""
EVERY = python_files("supervisor", "tasks", "tests", "bench")
BANNED = frozenset({"told", "tell", "said", "stands", "asked", "made"})
"""Words that say nothing in a name: the noun that they hide is the better name."""
KEPT = frozenset({("connection_made", "asyncio.Protocol"), ("asked", "JSON"), ("asked_by", "JSON")})
"""Names that others gave, or that are members of answers; and whose they are."""
FOUND_LINES_MAX = 3
"""So many lines a variable may be called `found`."""
FIVE_FILES_LINES_MAX = 600
CODE_MAP = ROOT / "docs/explanation/code-map.md"


def _entries(files: tuple[str, ...]) -> dict[str, set[str]]:
    entries: dict[str, set[str]] = defaultdict(set)
    for file in files:
        path = PurePosixPath(file)
        for child, parent in zip((path, *path.parents), path.parents, strict=False):
            if str(parent) != "." and child.name != "__init__.py":
                entries[str(parent)].add(child.name)
    return entries


def families(names: set[str]) -> list[str]:
    """Return the first words that too many file names of one folder share."""
    stems = [PurePosixPath(name).stem for name in names if name.endswith(".py")]
    words = Counter(stem.split("_")[0] for stem in stems if "_" in stem.strip("_"))
    return sorted(word for word, number in words.items() if number > FAMILY_MAX)


def banned_names(text: str) -> Iterator[str]:
    """Yield names of functions, classes, parameters, fields and variables that say nothing."""
    if not any(word in text.lower() for word in BANNED):
        return  # most files are not worth parsing
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names = [node.name]
            case ast.arg():
                names = [node.arg]
            case ast.Attribute(ctx=ast.Store()):
                names = [node.attr]
            case ast.Name(ctx=ast.Store()):
                names = [node.id]
            case _:
                names = []
        plain = (name for name in names if not name.startswith("test_"))
        yield from (name for name in plain if _words(name) & BANNED)


@cache
def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_no_folder_is_a_heap() -> None:
    entries = _entries(EVERY)

    assert len(entries) > 50
    assert {
        folder: len(names) for folder, names in entries.items() if len(names) > ENTRIES_MAX
    } == {}


def test_a_family_of_files_is_a_folder() -> None:
    found = {folder: families(names) for folder, names in _entries(PRODUCT).items()}

    assert {folder: words for folder, words in found.items() if words} == {}


def test_a_family_is_seen() -> None:
    assert families({"task_logs.py", "task_reports.py", "task_stops.py", "task"}) == ["task"]
    assert families({"task_logs.py", "task_reports.py", "tasks.py"}) == []


def test_every_folder_says_what_lives_there() -> None:
    packages = [file for file in PRODUCT if file.endswith("/__init__.py")]
    docs = {file: ast.get_docstring(ast.parse(text_of(file) or "")) or "" for file in packages}

    assert len(packages) > 40
    assert [file for file, doc in docs.items() if len(doc.split()) < 4] == []


def test_names_say_what_they_name() -> None:
    kept = {name for name, _ in KEPT}
    found = {file: set(banned_names(text_of(file) or "")) - kept for file in NAMED}

    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "def _told(): ...",
        "def f(asked): ...",
        "class Made: ...",
        "self._said = 1",
        "told = 1",
        "class A:\n    made: int",
    ],
)
def test_a_name_that_says_nothing_is_seen(text: str) -> None:
    assert len(list(banned_names(text))) == 1


def long_found(text: str) -> Iterator[str]:
    """Yield the functions in which a variable `found` lives for more than three lines."""
    if not re.search(r"\bfound\b", text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
            lines = [each.lineno for each in names if each.id == "found"]
            if lines and max(lines) - min(lines) >= FOUND_LINES_MAX:
                yield node.name


def test_a_finding_that_lives_long_has_a_name() -> None:
    functions = {file: list(long_found(text_of(file) or "")) for file in NAMED}

    assert {file: names for file, names in functions.items() if names} == {}
    assert list(long_found("def f():\n    found = 1\n\n\n    return found")) == ["f"]


def test_no_class_name_is_defined_twice() -> None:
    """Goal: a name in a traceback, a search or a sentence means one class."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in PRODUCT:
        for node in ast.parse(text_of(file) or "").body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(file)

    assert len(places) > 500
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_the_first_five_files_of_a_newcomer_are_five_and_short() -> None:
    """Goal: the code map promises a way in that takes half an hour."""
    page = CODE_MAP.read_text()
    way = page.split("## The first five files", 1)[1].split("\n## ", 1)[0]
    files = re.findall(r"^\d\. `([\w/.]+)`", way, re.MULTILINE)
    lines = {file: len((ROOT / file).read_text().splitlines()) for file in files}

    assert len(files) == 5
    assert sum(lines.values()) < FIVE_FILES_LINES_MAX, lines


def test_the_code_map_draws_every_folder_of_the_planes() -> None:
    page = CODE_MAP.read_text()
    folders = {name for folder in ("supervisor", "tasks") for name in _entries(PRODUCT)[folder]}

    assert [
        name
        for name in sorted(folders)
        if not re.search(rf"\b{re.escape(name.removesuffix('.py'))}\b", page)
    ] == []
